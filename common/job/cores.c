/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/cores.h"

#include "common/job/job.h"
#include "common/job/limits.h"

#include <stdint.h>
#include <unistd.h>

#define FOLDER "/sys/devices/system/cpu"

bool bc_processors_read(struct bc_processors *processors)
{
    *processors = (struct bc_processors){0};
    return sched_getaffinity(0, sizeof *processors, processors->part) == 0;
}

bool bc_processors_cover(const struct bc_processors *all, const struct bc_processors *part)
{
    struct bc_processors common;
    CPU_AND_S(sizeof common, common.part, all->part, part->part);
    return CPU_EQUAL_S(sizeof common, common.part, part->part) != 0;
}

/* Returns a processor's core, the first in the list of the core's processors, or -1 if unknown. */
static int read_core(int processor)
{
    static const char *const names[] = {"core_cpus_list", "thread_siblings_list"};
    int64_t first;
    for (int i = 0; i < 2; i++)
        if (bc_system_numbers(&first, 1, "", FOLDER "/cpu%d/topology/%s", processor, names[i]) &&
            first >= 0 && first < BC_PROCESSORS_MAX)
            return (int)first;
    return -1;
}

struct bc_processors bc_cores_of(const struct bc_cores *cores,
                                 const struct bc_processors *processors)
{
    struct bc_processors found = {0};
    for (int processor = 0; processor < BC_PROCESSORS_MAX; processor++)
        if (bc_processors_have(processors, processor)) {
            const int core = cores->of[processor];
            bc_processors_add(&found, core >= 0 ? core : processor);
        }
    return found;
}

/* Returns the number of processors that the system may have, at least that of a cpu_set_t. */
static int possible_processors(void)
{
    int64_t last;
    if (!bc_system_numbers(&last, 1, "0-", FOLDER "/possible") || last < CPU_SETSIZE)
        return CPU_SETSIZE;
    return last < BC_PROCESSORS_MAX ? (int)last + 1 : BC_PROCESSORS_MAX;
}

void bc_cores_read(struct bc_cores *cores)
{
    struct bc_processors found = {0};
    const int processors = possible_processors();
    for (int processor = 0; processor < BC_PROCESSORS_MAX; processor++) {
        cores->of[processor] = processor < processors ? read_core(processor) : -1;
        if (cores->of[processor] >= 0)
            bc_processors_add(&found, cores->of[processor]);
    }
    cores->count = bc_processors_count(&found);
}

/* glibc knows no cache of arm64. */
static size_t llc_bytes_from_sysfs(void)
{
    size_t bytes = 0;
    int64_t kib;
    for (int i = 0; bc_system_numbers(&kib, 1, "", FOLDER "/cpu0/cache/index%d/size", i); i++)
        if (kib > 0 && (size_t)kib * 1024 > bytes)
            bytes = (size_t)kib * 1024;
    return bytes;
}

size_t bc_llc_bytes(void)
{
    size_t bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const int levels[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                          _SC_LEVEL4_CACHE_SIZE};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const long size = sysconf(levels[i]);
        if (size > 0 && (size_t)size > bytes)
            bytes = (size_t)size;
    }
#endif
    return bytes > 0 ? bytes : llc_bytes_from_sysfs();
}

size_t bc_llc_flush_bytes(void) { return bc_llc_bytes() * 3 / 2; }
