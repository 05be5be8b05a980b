/*
 * Which processors (hardware threads) of the system belong to one core. They share its execution
 * units and caches, so ranks on two of them slow each other down, although neither has to wait.
 *
 * Source: Linux's Documentation/ABI/stable/sysfs-devices-system-cpu (core_cpus_list, and
 * thread_siblings_list of kernels before 5.3).
 */
#ifndef COMMCOST_COMMON_MACHINE_CORES_H
#define COMMCOST_COMMON_MACHINE_CORES_H

#include <sched.h>

#define BC_CORES_FOLDER "/sys/devices/system/cpu"

struct bc_cores {
    int count;           /* cores with a processor that is online; 0: not known */
    int of[CPU_SETSIZE]; /* for each processor the number of its core, which is that of the core's
                            lowest processor; -1: no such processor, or it is offline */
};

/* Reads the cores from a folder as /sys/devices/system/cpu. Local. */
void bc_cores_read(struct bc_cores *cores, const char *folder);

/* The cores that have a processor in `processors`; one whose core isn't known is a core. Local. */
cpu_set_t bc_cores_of(const struct bc_cores *cores, const cpu_set_t *processors);

#endif
