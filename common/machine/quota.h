/*
 * How many processors' time control groups allow: the kernel stops a group's processes for
 * the rest of a period when they have used up the group's quota, on however many
 * processors they may run. Containers and batch jobs set quotas ("docker run --cpus=1.5").
 *
 * Source: Linux's Documentation/admin-guide/cgroup-v2.rst (cpu.max) and
 * Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us, cpu.cfs_period_us).
 */
#ifndef COMMCOST_COMMON_MACHINE_QUOTA_H
#define COMMCOST_COMMON_MACHINE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/* The quota of one group. */
struct bc_quota {
    uint64_t device, group; /* of the group's folder: the same for all processes of
                               the system that see the group, by whatever path */
    double processors;      /* CPU time that the group may use per wall-clock time: 1.5 is
                               one and a half processors */
    int64_t version;        /* of control groups: 1 or 2 */
};

/* The quotas that bound a process: of its group and those above it, from the innermost
   outwards. Of more than BC_QUOTAS_MAX the outermost are left out. */
enum { BC_QUOTAS_MAX = 8 };
struct bc_quotas {
    struct bc_quota of[BC_QUOTAS_MAX];
    int64_t count;
};

/* Reads the quotas of the groups that the file `membership` names, as /proc/self/cgroup
   does, where they are mounted as below /sys/fs/cgroup. Local. */
void bc_quotas_read(struct bc_quotas *quotas, const char *membership, const char *mount);

/* What quotas mean for ranks of one node. */
struct bc_quota_finding {
    double processors;        /* whose time all the ranks may use together; INFINITY without
                                 a limit */
    struct bc_quota exceeded; /* the quota that allows the smallest share of a processor
                                 to each of its ranks, if that is less than one */
    int ranks;                /* that share it; 0: there is none */
};

/* Judges the quotas of `count` ranks of one node, which may be in different groups: ranks
   share a quota if they have it in common. Local. */
struct bc_quota_finding bc_quotas_judge(const struct bc_quotas *quotas, int count);

/* The file that sets a group's quota. */
const char *bc_quota_file(const struct bc_quota *quota);

#endif
