/* SPDX-License-Identifier: BSD-3-Clause */
/* The job: its ranks, nodes and processors, and the memory that each rank may take. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same on every rank, except `rank` and the members from `node` to `node_comm`. Texts,
   `host_names` and `cores` are on rank 0; elsewhere they are NULL and 0. */
struct bc_job {
    int rank, ranks;
    long launched;  /* processes that the launcher started; 0: not known */
    const char *id; /* the batch system's; NULL: none */
    int nodes;      /* groups of ranks that share memory, as MPI_Comm_split_type finds them */
    int min_per_node, max_per_node; /* ranks on a node */
    int min_processors;         /* processors that a node's ranks may run on, minimum over nodes */
    int min_allowed_processors; /* min_processors, or fewer by control groups' quotas (rounded down,
                                   at least 1) */
    bool shares_processors;     /* a node has more ranks than processors for them */
    bool oversubscribed; /* shares_processors, or a quota allows less than a processor per rank */
    int node;            /* this rank's, 0 to nodes - 1, in the order of the nodes' lowest ranks */
    int node_rank, node_ranks; /* in node_comm */
    MPI_Comm node_comm;        /* the ranks of this node */
    char *hosts;               /* each host with its ranks (hosts.h) */
    int host_names;            /* different names of the nodes' hosts: fewer than nodes if ranks of
                                  a host share no memory */
    char *binding;             /* the processors that each rank of rank 0's node may run on */
    int cores;                 /* of rank 0's node, online; 0: not known */
    char *shared_cores;        /* ranks on hardware threads of one core; NULL: none, or not known */
    char *exceeded_quota; /* the quota that allows less than a processor per rank; NULL: none */
    /* Bytes that each rank may take of its node's memory and of /dev/shm: the least that a node has
       available, divided by the ranks of the fullest node. INT64_MAX: not known. Set by
       bc_job_find_memory. */
    int64_t memory_per_rank, shared_memory_per_rank;
};

/* Fills in all members except those of bc_job_find_memory, with O(log P) messages per rank. Memory
   grows with the ranks of the node, on rank 0 also with the nodes' names. Free with bc_job_free.
   All three functions are collective over MPI_COMM_WORLD. */
void bc_job_describe(struct bc_job *job);
void bc_job_find_memory(struct bc_job *job);
void bc_job_free(struct bc_job *job);

/* Returns the bytes of this processor's last-level cache, by sysconf or sysfs; 0: not known. Local.
 */
size_t bc_llc_bytes(void);

/* Returns the bytes that flush that cache: one and a half times its size, since pages don't spread
   evenly over the sets of a cache; 0: not known. Local. */
size_t bc_llc_flush_bytes(void);
