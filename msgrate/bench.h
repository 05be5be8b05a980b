/*
 * What msgrate and msgrate_rma share beside their options: peers, the flush of
 * the caches, how an iteration begins, and how its samples become a row.
 */
#ifndef COMMCOST_MSGRATE_BENCH_H
#define COMMCOST_MSGRATE_BENCH_H

#include "common/machine/cache.h"
#include "common/machine/node_order.h"
#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "msgrate/messages.h"
#include "msgrate/parameters.h"

#include <stdbool.h>
#include <stdint.h>

struct msgrate_bench {
    struct bc_run *run;
    const struct msgrate_parameters *parameters;
    struct bc_sampler *sampler; /* over MPI_COMM_WORLD */
    struct bc_cache_flush flush;
    int64_t cache_bytes;          /* of the flush; the same on every rank */
    struct bc_node_order by_node; /* in which peers and partners are chosen */
    int npeers;                   /* length of both lists */
    int *sends, *receives;        /* the ranks that this one sends to, receives from */
    int stride;                   /* between peers, in ranks ordered by node */
    int partner;                  /* in the single direction; -1: this rank rests */
    bool lower;                   /* this rank is in the lower half of the ranks ordered by node */
};

/* Chooses the peers, makes the flush, and says in notes and warnings what a
   reader of the result must know. Collective over MPI_COMM_WORLD. */
void msgrate_bench_create(struct msgrate_bench *bench, struct bc_run *run,
                          const struct msgrate_parameters *parameters);

/* Collective. */
void msgrate_bench_destroy(struct msgrate_bench *bench);

/* What was measured in a row. */
struct msgrate_result {
    double messages;             /* that a rank sends and receives in an iteration */
    int ranks;                   /* that take part */
    int64_t size_bytes;          /* of a message */
    struct bc_summary iteration; /* the slowest rank's time, ns; on rank 0 */
    int64_t wrong;               /* messages with wrong data, of all ranks; on rank 0 */
    bool in_time;                /* the precision was reached before the time was up */
    int slowest_rank;            /* on rank 0 */
};

/* The result of a row, before it is measured: what each rank exchanges with one
   partner, in one direction, or with all its peers, in both. */
struct msgrate_result msgrate_begin_result(const struct msgrate_bench *bench,
                                           const struct msgrate_messages *messages,
                                           bool one_partner);

/* Samples iterations until the time of one is known well enough, within so many
   seconds (significant on rank 0). `pattern` is the name under which
   --dump-samples has them. Collective. */
void msgrate_sample(struct msgrate_bench *bench, const struct bc_source *source,
                    const char *pattern, double seconds, struct msgrate_result *result);

/* Adds up the messages with wrong data of all ranks. Collective. */
void msgrate_add_wrong(struct msgrate_result *result, int64_t wrong);

/* The columns that both programs have, after those that tell their variants
   apart. */
#define MSGRATE_COLUMNS                                                                            \
    {"job_size", BC_KEY, 0}, {"npeers", BC_KEY, 0}, {"niters", BC_INFO, 0}, {"nmsgs", BC_KEY, 0},  \
        {"nbytes", BC_KEY, 0}, {"cache_size", BC_KEY, 0}, {"ppn", BC_KEY, 0},                      \
        {"rate_per_s", BC_MORE, 1}, {"rate_lo_per_s", BC_INFO, 1}, {"rate_hi_per_s", BC_INFO, 1},  \
        {"total_rate_per_s", BC_INFO, 1}, {"iter_us", BC_INFO, 3}, {"iter_lo_us", BC_INFO, 3},     \
        {"iter_hi_us", BC_INFO, 3}, {"iter_p99_us", BC_INFO, 3}, {"iter_max_us", BC_INFO, 3},      \
        {"samples", BC_INFO, 0}, {"status", BC_INFO, 0},                                           \
    {                                                                                              \
        "slowest_rank", BC_INFO, 0                                                                 \
    }

/* A rank's messages sent and received a second; NAN without samples. */
double msgrate_rate_per_s(const struct msgrate_result *result, double iteration_ns);

/* Sets the cells from job_size to ppn. The row has been cleared for its table. */
void msgrate_fill_job(struct bc_row *row, const struct msgrate_bench *bench, int64_t size_bytes,
                      int64_t iterations);

/* Sets all of those cells. */
void msgrate_fill_row(struct bc_row *row, const struct msgrate_bench *bench,
                      const struct msgrate_result *result);

/* Warns of wrong data, if any, in the result. */
void msgrate_warn_wrong(const struct msgrate_bench *bench, const struct msgrate_result *result);

#endif
