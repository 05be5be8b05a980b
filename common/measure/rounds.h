/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds: adaptive sampling across ranks within a time budget. The loop is the program's.
 *
 *     struct bc_rounds *const rounds = bc_rounds_of(run, &quantities, visit->seconds, &row->store);
 *     for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
 *         bc_round_release(round, MPI_COMM_WORLD);
 *         time_swaps(exchange, round->lead_in);
 *         bc_round_start(round);
 *         bc_round_time(round, SWAP, time_swaps(exchange, round->repetitions));
 *     }
 *
 * A round times one or more quantities alternately, so that a drift of the machine affects all of
 * them alike. The sample of a quantity in a round is the slowest rank's value. If ranks start on a
 * shared clock (--start=window), it is the time from the first start to the last end. If ranks
 * start apart, after a lead-in, it is the value of the rank that is usually slowest.
 *
 * bc_next_round decides on warm-up, batch length, single repetitions for the tail, rounds that are
 * taken again, and the end. It reduces batches of rounds elementwise with MPI_MAXLOC to rank 0: in
 * O(log P) steps, with memory independent of P. Between two rounds of a batch only the program's
 * code runs.
 */
#pragma once

#include "common/measure/plan.h"

#include <mpi.h>

/* A time on this rank's clock (bc_now_ns). */
struct bc_span {
    int64_t start_ns, end_ns;
};

/* The number of repetitions that a round times together. */
enum bc_batching {
    BC_NO_BATCHES,     /* 1 */
    BC_BATCHES,        /* `repetitions`; if 0, those that take about 20 µs: the first visit times
                          longer and longer batches, after a barrier and without lead-in */
    BC_DOUBLED_BATCHES /* `repetitions`; if 0, the first visit doubles `step` up to `max` until a
                          batch takes batch_ns twice in succession, since one may be disturbed */
};

/* Untimed repetitions before the timed ones of a round, so that ranks enter each timed repetition
   after a repetition, not after a barrier. */
enum bc_lead_in {
    BC_LEAD_IN_BATCHES, /* 1 in batches of several repetitions, and for the tail of their row */
    BC_LEAD_IN_ALWAYS,
    BC_LEAD_IN_NEVER
};

/* The quantities of a program's rounds. With all zeros except `count` a round has one repetition,
   without corrections, until quantity 0 is precise. */
struct bc_quantities {
    int count;                              /* 1 to BC_QUANTITIES_MAX */
    int slowest_of;                         /* the quantity whose slowest rank each round notes */
    const struct bc_precise_value *precise; /* must all be precise before adaptive sampling ends */
    int precise_count;                      /* if 0, quantity 0 must be precise */
    double clock_readings; /* pairs of readings in a round's time of a quantity: their cost on this
                              rank (run->own_clock) is subtracted before the maximum is found */

    enum bc_batching batching;
    int64_t repetitions; /* 0: found by the first visit */
    int64_t step, max;   /* of BC_DOUBLED_BATCHES: repetitions come in multiples of `step`; 0: 1 */
    double batch_ns;     /* minimum; a batch also takes at least 100 readings of the clock */
    enum bc_lead_in lead_in;
    bool no_tail; /* no rounds of single repetitions (one `step`) for p99 and max */
};

/* The state of a row's rounds from visit to visit; all zeros before the first visit. */
struct bc_store {
    int64_t repetitions;       /* in a round; the same on every rank */
    struct bc_samples samples; /* of all quantities, each the time of one repetition; on rank 0 */
    struct bc_samples singles; /* samples of rounds of one `step` of repetitions; may be empty */
    bool in_time;              /* the last visit was precise before its time was up; on rank 0 */
};

struct bc_rounds;

/* The current round. */
struct bc_round {
    int64_t repetitions; /* to time together in each quantity */
    int64_t lead_in;     /* 0 or 1 untimed repetition between bc_round_release and bc_round_start */

    /* Internal to rounds.c. */
    struct bc_start_window *window; /* NULL: ranks are released by barriers */
    int wanted;                     /* quantities 0 to wanted - 1 */
    double *ns, *starts_ns;         /* of each quantity */
};

/* Begins the rounds of a visit by the settings, within `seconds` (significant on rank 0); they are
   valid until a program begins other rounds. `quantities` and `store` must outlive the rounds.
   Between batches of several repetitions, rounds of single repetitions are timed for p99 and max of
   the row, since a batch hides late repetitions in its mean. They take a tenth of the time: at most
   1000 per row, at least one per visit. Collective over MPI_COMM_WORLD. */
struct bc_rounds *bc_rounds_of(const struct bc_run *run, const struct bc_quantities *quantities,
                               double seconds, struct bc_store *store);

/* Begins rounds of one repetition by the program's own plan (significant on rank 0), which append a
   visit to `samples` on rank 0. Collective over MPI_COMM_WORLD. */
struct bc_rounds *bc_rounds_by_plan(const struct bc_run *run,
                                    const struct bc_quantities *quantities,
                                    const struct bc_plan *plan, struct bc_samples *samples);

/* Returns the next round, valid until the next call; NULL after the last one. The same on every
   rank. Collective over MPI_COMM_WORLD. */
struct bc_round *bc_next_round(struct bc_rounds *rounds);

/* Returns true on rank 0 after the last round if all rounds were taken, or the values were precise,
   before the time was up. Local. */
bool bc_rounds_settled(const struct bc_rounds *rounds);

/* True if the round times quantity q. Rounds that find the batch length time quantity 0 alone. */
static inline bool bc_round_wants(const struct bc_round *round, int q) { return q < round->wanted; }

/* Releases ranks by a barrier of `comm`, unless ranks start in a window or it is MPI_COMM_NULL. A
   round may release and start several operations. Collective over `comm`. */
void bc_round_release(const struct bc_round *round, MPI_Comm comm);

/* Waits for the agreed start, if there is a window. Collective over MPI_COMM_WORLD. */
void bc_round_start(const struct bc_round *round);

/* Returns the time of a span in ns, on the shared clock if there is a window, and notes its start
   as that of quantity q. Local. */
double bc_round_ns(const struct bc_round *round, int q, struct bc_span span);

/* Stores this rank's time of all repetitions of quantity q, in ns. Ranks that store no value take
   no part; at least one rank must store one. Local. */
void bc_round_value(const struct bc_round *round, int q, double ns);

/* Stores the time of a span. Local. */
static inline void bc_round_time(const struct bc_round *round, int q, struct bc_span span)
{
    bc_round_value(round, q, bc_round_ns(round, q, span));
}

/* Returns the summary of quantity 0 minus quantity `subtrahend` (-1: none), with p99 and max of
   single repetitions if there are any. Local; rank 0. */
struct bc_summary bc_store_summary(const struct bc_run *run, const struct bc_store *store,
                                   int subtrahend);

/* Returns true if the row is as precise as the settings ask for. Local; rank 0. */
bool bc_store_is_precise(const struct bc_run *run, const struct bc_quantities *quantities,
                         const struct bc_store *store);

/* Frees the samples. Local. */
void bc_store_free(struct bc_store *store);
