/*
 * What msgrate and msgrate_rma share beside their options: peers, the flush of the caches, the data
 * of messages, and how the samples of iterations become a row.
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

/* The state of both programs. */
struct msgrate_bench {
    struct msgrate_parameters parameters;
    struct bc_run *run;
    struct bc_cache_flush flush;
    int64_t cache_bytes;          /* of the flush; the same on every rank */
    struct bc_node_order by_node; /* in which peers and partners are chosen */
    int npeers;                   /* length of both lists */
    int *sends, *receives;        /* the ranks that this one sends to, receives from */
    int stride;                   /* between peers, in ranks ordered by node */
    int partner;                  /* in the single direction; -1: this rank rests */
    bool lower;                   /* this rank is in the lower half of the ranks ordered by node */
};

/* How both programs begin and end (struct bc_benchmark); `state` is a bench, of which only the
   parameters are set. Chooses the peers, makes the flush, and says in notes and warnings what a
   reader of the result must know. Collective. */
void msgrate_open(void *state, struct bc_run *run);
void msgrate_close(void *state);

/* Writes into a buffer what this rank sends to its partner, or to all its peers, in an iteration:
   with --check so that msgrate_verify_buffer can verify it there. Local. */
void msgrate_write_buffer(const struct msgrate_bench *bench,
                          const struct msgrate_messages *messages, bool one_partner,
                          unsigned char *buffer, int64_t iteration);

/* The number of wrong messages among those that its partner, or all its peers, sent to this rank
   in an iteration, with --check. Local. */
int64_t msgrate_verify_buffer(const struct msgrate_bench *bench,
                              const struct msgrate_messages *messages, bool one_partner,
                              unsigned char *buffer, int64_t iteration);

/* What a row says, but for what tells the variants of a program apart. Filled on rank 0. */
struct msgrate_result {
    int job_size, npeers;
    int64_t nmsgs, nbytes, cache_size;
    int ppn;
    struct bc_summary iteration; /* the slowest rank's time, ns */
    int64_t iterations;
    double rate_per_s, rate_lo_per_s, rate_hi_per_s; /* of a rank */
    double total_rate_per_s;                         /* of all ranks that take part */
    struct bc_outcome outcome;
};

/* The columns of a struct msgrate_result that is a member of `type`. */
#define MSGRATE_JOB_COLUMNS(type, member)                                                          \
    BC_COLUMN("job_size", BC_KEY, 0, type, member.job_size),                                       \
        BC_COLUMN("npeers", BC_KEY, 0, type, member.npeers),                                       \
        BC_COLUMN("niters", BC_INFO, 0, type, member.iterations),                                  \
        BC_COLUMN("nmsgs", BC_KEY, 0, type, member.nmsgs),                                         \
        BC_COLUMN("nbytes", BC_KEY, 0, type, member.nbytes),                                       \
        BC_COLUMN("cache_size", BC_KEY, 0, type, member.cache_size),                               \
        BC_COLUMN("ppn", BC_KEY, 0, type, member.ppn)
#define MSGRATE_COLUMNS(type, member)                                                              \
    MSGRATE_JOB_COLUMNS(type, member),                                                             \
        BC_COLUMN("rate_per_s", BC_MORE, 1, type, member.rate_per_s),                              \
        BC_COLUMN("rate_lo_per_s", BC_INFO, 1, type, member.rate_lo_per_s),                        \
        BC_COLUMN("rate_hi_per_s", BC_INFO, 1, type, member.rate_hi_per_s),                        \
        BC_COLUMN("total_rate_per_s", BC_INFO, 1, type, member.total_rate_per_s),                  \
        BC_TIME_COLUMNS("iter", BC_INFO, 3, type, member.iteration),                               \
        BC_OUTCOME_COLUMNS(type, member.outcome)

/* Samples iterations within `seconds` (significant on rank 0). `pattern` is their name in
   --dump-samples. Sets `iteration` and `outcome`. Collective. */
void msgrate_sample(const struct msgrate_bench *bench, const struct bc_source *source,
                    const char *pattern, double seconds, struct msgrate_result *result);

/* Sets all other members, and warns of wrong data. Each rank exchanges `messages` with one partner,
   in one direction, or with all its peers, in both. `wrong` messages were wrong on this rank.
   Collective. */
void msgrate_conclude(const struct msgrate_bench *bench, const struct msgrate_messages *messages,
                      bool one_partner, int64_t wrong, struct msgrate_result *result);

#endif
