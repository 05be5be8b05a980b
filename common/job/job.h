/* The job: its ranks, nodes and processors, the memory that each rank may take, and what a result
   says of all that. */
#pragma once

#include "common/result/output.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same on every rank, but for `rank` and the members from `node` to `node_comm`. Texts,
   `host_names` and `cores` are on rank 0; elsewhere they are NULL and 0. */
struct bc_job {
    int rank, ranks;
    int nodes; /* groups of ranks that share memory, as MPI_Comm_split_type finds them */
    int min_per_node, max_per_node; /* ranks on a node */
    int min_processors; /* minimum over nodes of the processors that the node's ranks may run on */
    int min_allowed_processors; /* the same, or the processors that control groups' quotas allow
                                   (rounded down, at least 1) where these are fewer */
    bool shares_processors;     /* on some node there are more ranks than processors for them */
    bool oversubscribed;        /* or a quota allows less than a processor a rank */
    int node; /* this rank's, 0 to nodes - 1, in the order of the nodes' lowest ranks */
    int node_rank, node_ranks; /* in node_comm */
    MPI_Comm node_comm;        /* the ranks of this node */
    char *hosts;               /* each host with its ranks, as hosts.h writes them */
    int host_names;            /* different names of the nodes' hosts, on rank 0: fewer than nodes
                                  where MPI finds no memory that ranks of a host share */
    char *binding;             /* the processors that each rank of rank 0's node may run on */
    int cores;                 /* of rank 0's node, online; 0: not known */
    char *shared_cores; /* which ranks are on hardware threads of one core; NULL: none, not known */
    char *exceeded_quota; /* which quota allows less than a processor a rank; NULL: none */
    /* Set by bc_job_find_memory: the bytes that each rank may take, of its node's memory and of
       /dev/shm (limits.h; INT64_MAX: not known). */
    int64_t memory_per_rank, shared_memory_per_rank;
};

/* Fills in all members but those of bc_job_find_memory, in O(log P) messages a rank and memory that
   grows with the ranks of the node, not with P; on rank 0 it grows with the nodes, by a name each.
   Free with bc_job_free. Collective over MPI_COMM_WORLD. */
void bc_job_describe(struct bc_job *job);

/* Fills in memory_per_rank and shared_memory_per_rank, the same on every rank: what each node has
   available over the ranks of the fullest node, minimum over nodes, in bytes; INT64_MAX: not known.
   Collective over MPI_COMM_WORLD. */
void bc_job_find_memory(struct bc_job *job);

/* Collective. */
void bc_job_free(struct bc_job *job);

/*
 * What launchers and batch systems tell a process in environment variables, before MPI_Init and
 * where it runs without MPI. Local.
 */

/* Whether this is the first process of its job, or no launcher says which one is. */
bool bc_launcher_is_first(void);

/* The number of processes of the job, the min where several launchers say one: that of an outer job
   may be inherited. 0 where none says. */
long bc_launcher_processes(void);

/* Whether an MPI library's launcher started the process, and not a batch system alone: in a shell
   of a job step of many tasks a single process is one on purpose. */
bool bc_launcher_is_mpirun(void);

/* The batch system's id of the job; NULL where there is none. */
const char *bc_launcher_job_id(void);

/* ---- the metadata of a result (metadata.c); local, nothing where the output is NULL ------------
 */

/* Writes benchmark, version, commit, date, command line and compiler. */
void bc_metadata_write_program(struct bc_output *output, const char *benchmark, int argc,
                               char *const *argv);

/* Writes MPI library and its variables, ranks, nodes, hosts, binding, processor, kernel and job id,
   and warns of shared processors, cores and quotas. Calls MPI. */
void bc_metadata_write(struct bc_output *output, const struct bc_job *job, int thread_level);

/* ---- the last-level cache (cores.c); local ------------------------------------------------------
 */

/* Returns the bytes of this processor's last-level cache, by sysconf or sysfs; 0: not known. */
size_t bc_llc_bytes(void);

/* Returns the bytes that flush the last-level cache, too: one and a half times its size, since
   pages don't spread evenly over the sets of a cache; 0 if its size isn't known. */
size_t bc_llc_flush_bytes(void);
