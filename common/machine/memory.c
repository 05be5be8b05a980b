#include "common/machine/memory.h"

#include "common/machine/control_groups.h"
#include "common/machine/system_file.h"

#include <stddef.h>

/* What a version of the groups calls its files. */
struct names {
    const char *limit, *taken;
    const char *pages[2]; /* of files, in memory.stat */
};

static const struct names version_1 = {
    .limit = "memory.limit_in_bytes",
    .taken = "memory.usage_in_bytes",
    .pages = {"total_inactive_file ", "total_active_file "},
};

static const struct names version_2 = {
    .limit = "memory.max",
    .taken = "memory.current",
    .pages = {"inactive_file ", "active_file "},
};

/* What one group leaves. */
static int64_t left_of(const struct names *names, const char *folder)
{
    int64_t limit, taken, pages;
    if (!bc_system_number(folder, names->limit, "", &limit) || /* "max": none */
        !bc_system_number(folder, names->taken, "", &taken))
        return INT64_MAX;
    for (int i = 0; i < 2; i++)
        if (bc_system_number(folder, "memory.stat", names->pages[i], &pages))
            taken -= pages;
    return taken < 0 ? limit : taken < limit ? limit - taken : 0;
}

static void take_least(const char *folder, int version, void *context)
{
    int64_t *const least = context;
    const int64_t left = left_of(version == 1 ? &version_1 : &version_2, folder);
    if (left < *least)
        *least = left;
}

int64_t bc_memory_of_groups(const char *membership, const char *mount)
{
    int64_t least = INT64_MAX;
    bc_groups_visit(membership, mount, "memory", take_least, &least);
    return least;
}

int64_t bc_memory_available(void)
{
    int64_t kib;
    const int64_t of_node =
        bc_system_number("/proc", "meminfo", "MemAvailable:", &kib) ? kib * 1024 : INT64_MAX;
    const int64_t of_groups = bc_memory_of_groups(BC_GROUPS_OF_PROCESS, BC_GROUPS_MOUNT);
    return of_groups < of_node ? of_groups : of_node;
}
