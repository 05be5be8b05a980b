/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences of rounds with a plan: rank 0 decides on the next batch of rounds and keeps the
   samples. Internal to common/measure. */
#pragma once

#include "common/measure/rounds.h"
#include "common/stats/sampling.h"

#define BC_BATCH_MAX 256 /* rounds in one reduction */

enum bc_end {
    BC_END_SETTLED, /* the values are precise, or a fixed number was reached */
    BC_END_MAX,     /* max_rounds was reached before the values were precise */
    BC_END_TIME     /* the deadline passed */
};

struct bc_sequence {
    const struct bc_run *run;
    const struct bc_quantities *quantities;
    struct bc_plan plan;            /* significant on rank 0 */
    struct bc_samples *samples;     /* gets the sequence's samples as its last visit; rank 0 */
    struct bc_start_window *window; /* NULL on all ranks, or on none */
    int64_t repetitions;            /* timed together; a value is the time of one */
    int64_t lead_in;                /* untimed repetitions before each round: 0 or 1 */

    /* Set by bc_sequence_order, the same on every rank. */
    bool is_sample; /* the current batch is part of the samples; false: warm-up */
    enum bc_end end;

    /* Internal to sequence.c; significant on rank 0, except the last three. */
    double start_s;
    double round_s;      /* mean time of a round, with its barriers */
    int64_t rounds_done; /* warm-up and samples */
    bool warming;
    int warmup_batches;
    double warmup_medians[BC_QUANTITIES_MAX];
    struct bc_stopping stopping[BC_PRECISE_VALUES_MAX];
    size_t next_look;
    bool settled;
    int chosen[BC_QUANTITIES_MAX]; /* rank whose value is the sample; the same on every rank */
    size_t own_count;              /* number of values that this rank has had */
    double own[BC_QUANTITIES_MAX][BC_BATCH_MAX]; /* this rank's latest values */
};

/* Begins a sequence. The caller has set its first members; all others are zeros. Local. */
void bc_sequence_begin(struct bc_sequence *sequence);

/* Returns the number of rounds to take next, at most BC_BATCH_MAX; 0 if the sequence has ended. The
   same on every rank. Collective over MPI_COMM_WORLD. */
int bc_sequence_order(struct bc_sequence *sequence);

/* Adds a batch of rounds. `ns` has this rank's time for all repetitions, by round and quantity
   (-INFINITY: the rank took no part). If there is a window, `starts_ns` has the delay of the rank's
   start after the agreed start. Collective over MPI_COMM_WORLD. */
void bc_sequence_take(struct bc_sequence *sequence, int rounds, double (*ns)[BC_QUANTITIES_MAX],
                      double (*starts_ns)[BC_QUANTITIES_MAX]);

/* ---- samples and precise values; local ------------------------------------------------------- */

/* Returns the number of rounds in the last visit; 0 before the first one. */
size_t bc_samples_in_visit(const struct bc_samples *samples);

/* Returns the rank that was slowest in most rounds, of `ranks` ranks; -1 if there are no rounds. */
int bc_samples_slowest_rank(const struct bc_samples *samples, int ranks);

/* Returns true if the interval of each value is as narrow as --precision requires, or the value is
   negligible. With `stopping`, an entry for each value, this must hold at several looks in
   succession. Rank 0. */
bool bc_values_are_precise(const struct bc_run *run, const struct bc_samples *samples,
                           const struct bc_precise_value *values, int count,
                           struct bc_stopping *stopping);
