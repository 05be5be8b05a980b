#include "common/machine/cores.h"

#include "common/machine/limits.h"

#include <stdint.h>

/* A processor's core: the first in the list of the core's processors; -1: the system doesn't say.
 */
static int read_core(const char *folder, int processor)
{
    static const char *const names[] = {"core_cpus_list", "thread_siblings_list"};
    int64_t first;
    for (int i = 0; i < 2; i++)
        if (bc_system_numbers(&first, 1, "", "%s/cpu%d/topology/%s", folder, processor, names[i]) &&
            first >= 0 && first < CPU_SETSIZE)
            return (int)first;
    return -1;
}

cpu_set_t bc_cores_of(const struct bc_cores *cores, const cpu_set_t *processors)
{
    cpu_set_t found;
    CPU_ZERO(&found);
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET((size_t)processor, processors)) {
            const int core = cores->of[processor];
            CPU_SET((size_t)(core >= 0 ? core : processor), &found);
        }
    return found;
}

void bc_cores_read(struct bc_cores *cores, const char *folder)
{
    cpu_set_t found;
    CPU_ZERO(&found);
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        cores->of[processor] = read_core(folder, processor);
        if (cores->of[processor] >= 0)
            CPU_SET((size_t)cores->of[processor], &found);
    }
    cores->count = CPU_COUNT(&found);
}
