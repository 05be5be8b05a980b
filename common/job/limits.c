/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/limits.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- files of the system --------------------------------------------------------------------- */

static bool parse(const char *text, int64_t *numbers, int count)
{
    char *end;
    for (int i = 0; i < count; i++, text = end) {
        numbers[i] = strtoll(text, &end, 10);
        if (end == text)
            return false;
    }
    return true;
}

bool bc_system_numbers(int64_t *numbers, int count, const char *word, const char *path, ...)
{
    char whole[PATH_MAX], line[256];
    bool found = false;
    va_list arguments;
    va_start(arguments, path);
    const int length = vsnprintf(whole, sizeof whole, path, arguments);
    va_end(arguments);
    FILE *const file = length < (int)sizeof whole ? fopen(whole, "r") : NULL;
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found =
            strncmp(line, word, strlen(word)) == 0 && parse(line + strlen(word), numbers, count);
    fclose(file);
    return found;
}

/* ---- the groups of a process ----------------------------------------------------------------- */

/* Looks at a group, whose files lie in `folder` if that exists. `version` is that of control
   groups, 1 or 2. */
typedef void look_fn(const char *folder, int version, void *context);

/* Looks at a group and all groups above it, in the hierarchy mounted by this name, if any. */
static void look_upwards(const char *name, const char *group, int version, look_fn *look,
                         void *context)
{
    char path[PATH_MAX];
    const int top = snprintf(path, sizeof path, "/sys/fs/cgroup/%s", name);
    const size_t length = (size_t)top + strlen(group);
    if (length >= sizeof path)
        return;
    strcpy(path + top, group);
    for (char *end = path + length; end != NULL && end >= path + top; end = strrchr(path, '/')) {
        *end = '\0';
        look(path, version, context);
    }
}

/* Looks at each group of `controller` ("memory", "cpu"), from the innermost outwards. */
static void visit_groups(const char *controller, look_fn *look, void *context)
{
    char line[PATH_MAX]; /* NUMBER:CONTROLLERS:GROUP, without controllers for version 2 */
    FILE *const file = fopen("/proc/self/cgroup", "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        char *const first = strchr(line, ':');
        char *const second = first != NULL ? strchr(first + 1, ':') : NULL;
        if (second == NULL)
            continue;
        const char *const controllers = first + 1, *const group = second + 1;
        char listed[PATH_MAX + 2], wanted[16];
        second[0] = second[1 + strcspn(group, "\n")] = '\0';
        snprintf(listed, sizeof listed, ",%s,", controllers);
        snprintf(wanted, sizeof wanted, ",%s,", controller);
        if (controllers[0] == '\0') {
            look_upwards("", group, 2, look, context);
            look_upwards("unified", group, 2, look, context);
        } else if (strstr(listed, wanted) != NULL) {
            look_upwards(controller, group, 1, look, context);
            if (strcmp(controller, controllers) != 0)
                look_upwards(controllers, group, 1, look, context);
        }
    }
    fclose(file);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* By version of control groups. */
static const struct memory_files {
    const char *limit, *usage;
    const char *pages[2]; /* words in memory.stat for cached pages of files */
} memory_files[] = {
    [1] = {"memory.limit_in_bytes",
           "memory.usage_in_bytes",
           {"total_inactive_file ", "total_active_file "}},
    [2] = {"memory.max", "memory.current", {"inactive_file ", "active_file "}},
};

static void take_min_available(const char *folder, int version, void *context)
{
    const struct memory_files *const files = &memory_files[version];
    int64_t *const min = context;
    int64_t limit, usage, pages;
    if (!bc_system_numbers(&limit, 1, "", "%s/%s", folder, files->limit) || /* "max": no limit */
        !bc_system_numbers(&usage, 1, "", "%s/%s", folder, files->usage))
        return;
    for (int i = 0; i < 2; i++)
        if (bc_system_numbers(&pages, 1, files->pages[i], "%s/memory.stat", folder))
            usage -= pages;
    const int64_t left = usage < 0 ? limit : usage < limit ? limit - usage : 0;
    if (left < *min)
        *min = left;
}

int64_t bc_memory_available(void)
{
    int64_t kib;
    const bool known = bc_system_numbers(&kib, 1, "MemAvailable:", "/proc/meminfo");
    int64_t min = known ? kib * 1024 : INT64_MAX;
    visit_groups("memory", take_min_available, &min);
    return min;
}

/* ---- quotas ---------------------------------------------------------------------------------- */

static bool has(const struct bc_quotas *quotas, const struct bc_quota *quota)
{
    for (int64_t i = 0; i < quotas->count; i++)
        if (quotas->of[i].device == quota->device && quotas->of[i].group == quota->group)
            return true;
    return false;
}

static void add_quota(const char *folder, int version, void *context)
{
    struct bc_quotas *const quotas = context;
    /* Quota and period in us. A group without a quota has -1 (version 1) or the word "max"
       (version 2) in its place. */
    int64_t us[2] = {0, 0};
    struct stat status;
    const bool known = version == 2
                           ? bc_system_numbers(us, 2, "", "%s/cpu.max", folder)
                           : bc_system_numbers(&us[0], 1, "", "%s/cpu.cfs_quota_us", folder) &&
                                 bc_system_numbers(&us[1], 1, "", "%s/cpu.cfs_period_us", folder);
    if (!known || us[0] <= 0 || us[1] <= 0 || stat(folder, &status) != 0)
        return;
    struct bc_quota quota = {
        .device = status.st_dev,
        .group = status.st_ino,
        .processors = (double)us[0] / (double)us[1],
        .version = version,
        .throttled = -1,
    };
    (void)bc_system_numbers(&quota.throttled, 1, "nr_throttled ", "%s/cpu.stat", folder);
    if (quotas->count < BC_QUOTAS_MAX && !has(quotas, &quota))
        quotas->of[quotas->count++] = quota;
}

void bc_quotas_read(struct bc_quotas *quotas)
{
    memset(quotas, 0, sizeof *quotas); /* padding too: ranks send the whole struct */
    visit_groups("cpu", add_quota, quotas);
}

const char *bc_quota_file(const struct bc_quota *quota)
{
    return quota->version == 1 ? "cpu.cfs_quota_us" : "cpu.max";
}

struct bc_quota_finding bc_quotas_judge(const struct bc_quotas *quotas, int count)
{
    struct bc_quota_finding finding = {.processors = 0.0, .ranks = 0};
    double smallest = 1.0;
    for (int i = 0; i < count; i++) {
        double rank_share = INFINITY; /* of a processor */
        for (int64_t j = 0; j < quotas[i].count; j++) {
            const struct bc_quota *const quota = &quotas[i].of[j];
            int sharing = 0;
            for (int k = 0; k < count; k++)
                sharing += has(&quotas[k], quota);
            const double share = quota->processors / sharing;
            rank_share = fmin(rank_share, share);
            if (share < smallest) {
                smallest = share;
                finding.exceeded = *quota;
                finding.ranks = sharing;
            }
        }
        finding.processors += rank_share;
    }
    return finding;
}

/* ---- shared memory --------------------------------------------------------------------------- */

#define FOLDER "/dev/shm"

/* With fewer free bytes an access may end in SIGBUS: a page may be larger than the free space. */
#define FULL_BYTES ((int64_t)64 << 10)
/* With fewer free bytes a library may not start: UCX takes 4.3 MiB per rank. */
#define NEARLY_FULL_BYTES ((int64_t)16 << 20)

int64_t bc_shared_memory_available(void)
{
    struct statvfs folder;
    if (statvfs(FOLDER, &folder) != 0)
        return INT64_MAX;
    return (int64_t)folder.f_bavail * (int64_t)folder.f_frsize;
}

/* Reports a full /dev/shm, if fewer than min_bytes are free. A signal handler calls this. */
static bool explain(int64_t min_bytes)
{
    static const char text[] =
        "commcost: " FOLDER ", the shared memory of a node's processes, has little room left: "
        "clear it, or give the container more (docker run --shm-size)\n";
    if (bc_shared_memory_available() >= min_bytes)
        return false;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    return true;
}

static void on_bus_error(int signal_number)
{
    if (explain(FULL_BYTES))
        _exit(1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void bc_shared_memory_watch(bool speaks)
{
    struct sigaction action = {.sa_handler = on_bus_error};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
    if (speaks)
        (void)explain(NEARLY_FULL_BYTES);
}
