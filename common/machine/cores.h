/*
 * Which of the system's processors are hardware threads of one core. Two of them
 * (hyperthreads) have one core's units and caches between them, so a rank on each gets in
 * the other's way, though neither has to wait for a processor.
 *
 * Source: Linux's Documentation/ABI/stable/sysfs-devices-system-cpu (core_cpus_list, and
 * thread_siblings_list of kernels before 5.3).
 */
#ifndef COMMCOST_COMMON_MACHINE_CORES_H
#define COMMCOST_COMMON_MACHINE_CORES_H

#include <sched.h>
#include <stdbool.h>

#define BC_CORES_FOLDER "/sys/devices/system/cpu"

struct bc_cores {
    int count;           /* of cores with a processor that is online; 0: not known */
    int of[CPU_SETSIZE]; /* of a processor: the core's lowest one, which stands for the
                            core; -1: it is offline, or there is no such one */
};

/* Reads the processors of a folder as /sys/devices/system/cpu is. Local. */
void bc_cores_read(struct bc_cores *cores, const char *folder);

/* Sets `found` to the lowest processor of each core that has one in `processors`. A
   processor whose core isn't known counts as a core. Local. */
void bc_cores_of(const struct bc_cores *cores, const cpu_set_t *processors, cpu_set_t *found);

#endif
