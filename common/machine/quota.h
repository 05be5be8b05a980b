/*
 * The processor time that control groups allow: when the processes of a group have used up its
 * quota, on however many processors, the kernel stops them for the rest of the period. Containers
 * and batch jobs set quotas ("docker run --cpus=1.5").
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
    uint64_t device, group; /* device and inode of the group's folder: the same for all processes
                               that see the group, by whatever path */
    double processors;      /* processor time per wall-clock time: 1.5 is one and a half
                               processors */
    int64_t version;        /* of control groups: 1 or 2 */
};

/* The quotas that bound a process: of its group and of all groups above it, from the innermost
   outwards. With more than BC_QUOTAS_MAX the outermost are left out. */
enum { BC_QUOTAS_MAX = 8 };
struct bc_quotas {
    struct bc_quota of[BC_QUOTAS_MAX];
    int64_t count;
};

/* Reads the quotas of the groups that the file `membership` names (as /proc/self/cgroup); `mount`
   is where the hierarchies are mounted (as /sys/fs/cgroup). Local. */
void bc_quotas_read(struct bc_quotas *quotas, const char *membership, const char *mount);

/* What quotas mean for the ranks of one node. */
struct bc_quota_finding {
    double processors;        /* that all the ranks together may use; INFINITY without a limit */
    struct bc_quota exceeded; /* the quota that allows each of its ranks the smallest share of a
                                 processor, if that share is less than one processor */
    int ranks;                /* that share the exceeded quota; 0: no quota is exceeded */
};

/* Judges the quotas of `count` ranks of one node, which may be in different groups: ranks share a
   quota if both have it. Local. */
struct bc_quota_finding bc_quotas_judge(const struct bc_quotas *quotas, int count);

/* The name of the file that sets a group's quota. Local. */
const char *bc_quota_file(const struct bc_quota *quota);

#endif
