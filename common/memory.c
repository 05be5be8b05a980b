#include "common/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a version of the groups calls its files. */
struct hierarchy {
    const char *folders[3]; /* where it may be mounted, NULL after the last */
    const char *limit, *taken;
    const char *pages[2]; /* of files, in memory.stat */
};

static const struct hierarchy version_1 = {
    .folders = {"/memory"},
    .limit = "memory.limit_in_bytes",
    .taken = "memory.usage_in_bytes",
    .pages = {"total_inactive_file ", "total_active_file "},
};

static const struct hierarchy version_2 = {
    .folders = {"", "/unified"},
    .limit = "memory.max",
    .taken = "memory.current",
    .pages = {"inactive_file ", "active_file "},
};

/* The number behind a word that begins a line of a folder's file, of its first line where
   that is "". False if there is none. */
static bool read_number(const char *folder, const char *name, const char *word,
                        int64_t *number)
{
    char path[PATH_MAX], line[256], *end = NULL;
    bool found = false;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, word, strlen(word)) == 0) {
            const char *const digits = line + strlen(word);
            *number = strtoll(digits, &end, 10);
            found = end != digits;
        }
    fclose(file);
    return found;
}

/* What one group leaves. */
static int64_t left_of(const struct hierarchy *hierarchy, const char *folder)
{
    int64_t limit, taken, pages;
    if (!read_number(folder, hierarchy->limit, "", &limit) || /* "max": none */
        !read_number(folder, hierarchy->taken, "", &taken))
        return INT64_MAX;
    for (int i = 0; i < 2; i++)
        if (read_number(folder, "memory.stat", hierarchy->pages[i], &pages))
            taken -= pages;
    return taken < 0 ? limit : taken < limit ? limit - taken : 0;
}

/* What a group and those above it leave. */
static int64_t left_along(const struct hierarchy *hierarchy, const char *mount,
                          const char *group)
{
    int64_t least = INT64_MAX;
    for (int i = 0; hierarchy->folders[i] != NULL; i++) {
        char path[PATH_MAX];
        const int top =
            snprintf(path, sizeof path, "%s%s", mount, hierarchy->folders[i]);
        const int length = snprintf(path, sizeof path, "%s%s%s", mount,
                                    hierarchy->folders[i], group);
        if (length >= (int)sizeof path)
            continue;
        for (;;) {
            const int64_t left = left_of(hierarchy, path);
            if (left < least)
                least = left;
            char *const slash = strrchr(path, '/');
            if (slash == NULL || slash < path + top)
                break;
            *slash = '\0';
        }
    }
    return least;
}

/* Whether a list of controllers, separated by commas, has that of memory. */
static bool has_memory(const char *controllers, size_t length)
{
    static const char name[] = "memory";
    const size_t name_length = sizeof name - 1;
    for (size_t at = 0; at + name_length <= length;) {
        const size_t word = strcspn(controllers + at, ",:");
        if (word == name_length && strncmp(controllers + at, name, word) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

int64_t bc_memory_of_groups(const char *membership, const char *mount)
{
    char line[PATH_MAX];
    int64_t least = INT64_MAX;
    FILE *const file = fopen(membership, "r");
    if (file == NULL)
        return least;
    /* NUMBER:CONTROLLERS:GROUP, where version 2 has no controllers. */
    while (fgets(line, sizeof line, file) != NULL) {
        char *const controllers = strchr(line, ':');
        char *const group =
            controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        group[strcspn(group, "\n")] = '\0';
        const size_t length = (size_t)(group - controllers - 1);
        const struct hierarchy *const hierarchy =
            length == 0                             ? &version_2
            : has_memory(controllers + 1, length) ? &version_1
                                                    : NULL;
        if (hierarchy == NULL)
            continue;
        const int64_t left = left_along(hierarchy, mount, group + 1);
        if (left < least)
            least = left;
    }
    fclose(file);
    return least;
}

int64_t bc_memory_available(void)
{
    int64_t kib;
    const int64_t of_node =
        read_number("/proc", "meminfo", "MemAvailable:", &kib) ? kib * 1024 : INT64_MAX;
    const int64_t of_groups =
        bc_memory_of_groups("/proc/self/cgroup", "/sys/fs/cgroup");
    return of_groups < of_node ? of_groups : of_node;
}
