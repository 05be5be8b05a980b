#include "common/machine/cores.h"

#include "common/machine/system_file.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

/* The number of a processor's core, which is the first in the list of that core's processors; -1 if
   the system doesn't say. */
static int read_core(const char *folder, int processor)
{
    static const char *const names[] = {"core_cpus_list", "thread_siblings_list"};
    char path[PATH_MAX];
    int64_t first;
    if (snprintf(path, sizeof path, "%s/cpu%d/topology", folder, processor) >= (int)sizeof path)
        return -1;
    for (int i = 0; i < 2; i++)
        if (bc_system_numbers(path, names[i], "", &first, 1) && first >= 0 && first < CPU_SETSIZE)
            return (int)first;
    return -1;
}

void bc_cores_read(struct bc_cores *cores, const char *folder)
{
    cpu_set_t online, found;
    CPU_ZERO(&online);
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        cores->of[processor] = read_core(folder, processor);
        if (cores->of[processor] >= 0)
            CPU_SET((size_t)processor, &online);
    }
    bc_cores_of(cores, &online, &found);
    cores->count = CPU_COUNT(&found);
}

void bc_cores_of(const struct bc_cores *cores, const cpu_set_t *processors, cpu_set_t *found)
{
    CPU_ZERO(found);
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET((size_t)processor, processors)) {
            const int core = cores->of[processor];
            CPU_SET((size_t)(core >= 0 ? core : processor), found);
        }
}
