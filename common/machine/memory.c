#include "common/machine/memory.h"

#include "common/machine/control_groups.h"
#include "common/machine/system_file.h"
#include "common/mpi/mpi_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is left ---------------------------------------------------------------------------- */

/* The files of a version of control groups. */
struct names {
    const char *limit, *usage;
    const char *pages[2]; /* words in memory.stat for cached pages of files */
};

static const struct names version_1 = {
    .limit = "memory.limit_in_bytes",
    .usage = "memory.usage_in_bytes",
    .pages = {"total_inactive_file ", "total_active_file "},
};

static const struct names version_2 = {
    .limit = "memory.max",
    .usage = "memory.current",
    .pages = {"inactive_file ", "active_file "},
};

/* The bytes left in one group. */
static int64_t left_in(const struct names *names, const char *folder)
{
    int64_t limit, usage, pages;
    if (!bc_system_numbers(folder, names->limit, "", &limit, 1) || /* "max": no limit */
        !bc_system_numbers(folder, names->usage, "", &usage, 1))
        return INT64_MAX;
    for (int i = 0; i < 2; i++)
        if (bc_system_numbers(folder, "memory.stat", names->pages[i], &pages, 1))
            usage -= pages;
    return usage < 0 ? limit : usage < limit ? limit - usage : 0;
}

static void take_min(const char *folder, int version, void *context)
{
    int64_t *const min = context;
    const int64_t left = left_in(version == 1 ? &version_1 : &version_2, folder);
    if (left < *min)
        *min = left;
}

int64_t bc_memory_of_groups(const char *membership, const char *mount)
{
    int64_t min = INT64_MAX;
    bc_groups_visit(membership, mount, "memory", take_min, &min);
    return min;
}

int64_t bc_memory_available(void)
{
    int64_t kib;
    const int64_t of_node =
        bc_system_numbers("/proc", "meminfo", "MemAvailable:", &kib, 1) ? kib * 1024 : INT64_MAX;
    const int64_t of_groups = bc_memory_of_groups(BC_GROUPS_OF_PROCESS, BC_GROUPS_MOUNT);
    return of_groups < of_node ? of_groups : of_node;
}

/* ---- allocation ------------------------------------------------------------------------------ */

/* Ends the job if there is no memory. */
static void require(const void *memory, const char *format, va_list arguments)
{
    char message[256];
    if (memory != NULL)
        return;
    vsnprintf(message, sizeof message, format, arguments);
    bc_abort("%s", message);
}

void *bc_allocate(size_t count, size_t element_bytes, const char *format, ...)
{
    void *const memory = calloc(count > 0 ? count : 1, element_bytes);
    va_list arguments;
    va_start(arguments, format);
    require(memory, format, arguments);
    va_end(arguments);
    return memory;
}

void *bc_allocate_pages(size_t bytes, const char *format, ...)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = bytes / page + (bytes % page > 0 || bytes == 0);
    void *const memory = bytes <= PTRDIFF_MAX ? aligned_alloc(page, pages * page) : NULL;
    va_list arguments;
    va_start(arguments, format);
    require(memory, format, arguments);
    va_end(arguments);
    return memory != NULL ? memset(memory, 0, pages * page) : NULL;
}
