/*
 * What job this is: ranks, nodes, processors, and what MPI and the scheduler
 * say about themselves.
 */
#ifndef COMMCOST_COMMON_MACHINE_JOB_H
#define COMMCOST_COMMON_MACHINE_JOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same on every rank, but for rank and what is from `node` on. */
struct bc_job {
    int rank, ranks;
    int nodes;                         /* that share memory, as MPI says */
    int least_per_node, most_per_node; /* ranks on a node */
    int least_processors;         /* min over nodes of the processors that the ranks may run on */
    int least_allowed_processors; /* the same, or whole processors of the control groups'
                                     quotas where these are fewer; at least 1 */
    bool shares_processors;       /* on some node ranks have fewer processors than they are */
    bool oversubscribed;          /* so, or a control group's quota allows ranks less than a
                                     processor each */
    int node;                     /* this rank's node, 0 to nodes - 1, in the order of
                                     their lowest ranks */
    MPI_Comm node_comm;           /* the ranks of this node */
    char *hosts;                  /* on rank 0: each host with its ranks, as hosts.h writes
                                     them; else NULL */
    char *binding;                /* on rank 0: the processors that its node's ranks may run
                                     on; else NULL */
    int cores;                    /* on rank 0: of its node, online; 0: not known */
    char *shared_cores;           /* on rank 0: which ranks are on hardware threads of one core, in
                                     words, where there are such; else NULL */
    char *exceeded_quota;         /* on rank 0: the quota that allows ranks less than a
                                     processor each, in words, where there is one; else NULL */
};

/* Where a system tells about itself; tests have made-up ones. */
struct bc_system {
    const char *cores;             /* as /sys/devices/system/cpu */
    int last_processor;            /* that this rank ran on; -1: as the kernel says */
    const char *groups_of_process; /* as /proc/self/cgroup */
    const char *groups_mount;      /* as /sys/fs/cgroup */
};

/* Finds out. Collective over MPI_COMM_WORLD. Takes O(log P) messages a rank and
   memory by the ranks of its node, not by P, but for what hosts.h says of hosts that
   are not numbered. */
void bc_job_describe(struct bc_job *job);

/* The same with another system's files. Each rank may have its own. */
void bc_job_describe_by(struct bc_job *job, const struct bc_system *system);

/* The bytes that each rank of the fullest node may take of the memory that is
   available now; the least over nodes. Collective over MPI_COMM_WORLD, the same
   on every rank; INT64_MAX where the system doesn't say. */
int64_t bc_job_memory_per_rank(const struct bc_job *job);

/* The same of /dev/shm, where MPI libraries put windows that a node's ranks
   share; a container may have much less of it. */
int64_t bc_job_shared_memory_per_rank(const struct bc_job *job);

/* Collective. */
void bc_job_free(struct bc_job *job);

#endif
