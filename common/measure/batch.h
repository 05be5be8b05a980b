/*
 * Samples of a repetition that is too short for the clock, or that continues into the next one: the
 * time of a batch of repetitions, long against the clock, divided by their number.
 */
#pragma once

#include "common/measure/plan.h"

/* ---- lengths of batches ---------------------------------------------------------------------- */

/* The time that a batch should take, in ns: at least min_ns, and at least 100 readings of the
   clock, so that its cost and resolution don't show. Local. */
double bc_batch_ns(const struct bc_clock_cost *cost, double min_ns);

/* Returns the time of `repetitions` repetitions in ns. */
typedef double bc_repeat_fn(void *context, int64_t repetitions);

/* Doubles the repetitions, from `min` (at least 1) up to `max`, until they take batch_ns twice in a
   row, since once they may have been disturbed. Collective if `repeat` is, which must then return
   the same on all ranks. */
int64_t bc_batch_double(int64_t min, int64_t max, double batch_ns, bc_repeat_fn *repeat,
                        void *context);

/* ---- rows ------------------------------------------------------------------------------------ */

/* What a row remembers from visit to visit; all zeros before the first one. */
struct bc_batch_row {
    int64_t repetitions; /* in a batch; the same on every rank */
    struct bc_samples batches, singles;
    bool in_time;  /* the last visit was precise before its time was up; rank 0 */
    int64_t wrong; /* transfers with wrong data, on this rank; the program counts them */
};

/* One visit: calls bc_run_sample for `batches`, in turn with rounds of `singles` (NULL: without),
   which time single repetitions of the same quantities, for p99 and max of the row. A batch hides
   late repetitions in its mean: one repetition of 150 that takes 10 times as long as the others
   adds 6 % to the mean.

   After each batch of rounds single repetitions are taken until they have used a tenth of the time
   that has passed; when the batches are done, up to a row's 1000 in all its visits, if a tenth of
   the visit's time is enough for that. At least one is taken, and never more than a visit may have
   samples (--samples, --max-samples). Collective. */
void bc_sample_with_singles(const struct bc_run *run, const struct bc_source *batches,
                            const struct bc_source *singles, int subtrahend, double seconds,
                            struct bc_batch_row *row);

/* Quantity 0 of the batches, less the quantity `subtrahend` (-1: none), with p99 and max of single
   repetitions, if there are any. Local; rank 0. */
struct bc_summary bc_batch_summarize(const struct bc_run *run, const struct bc_batch_row *row,
                                     int subtrahend);

/* Whether that is as precise as the settings ask for. Local; rank 0. */
bool bc_batch_is_precise(const struct bc_run *run, const struct bc_batch_row *row, int subtrahend);

/* ---- rows of one quantity -------------------------------------------------------------------- */

/* The time that a rank returns that takes no part in a batch. */
#define BC_NO_PART (-1)

struct bc_batch {
    /* Does `repetitions` repetitions and returns their time on this rank in ns, or BC_NO_PART. With
       a window the time is what bc_start_window_time returned for quantity 0. Collective over
       MPI_COMM_WORLD. */
    bc_repeat_fn *repeat;
    /* Another way to do the same, timed in turn with it; NULL: none. */
    bc_repeat_fn *counterpart;
    /* Called outside the timing, before the barrier that starts a batch of either way; NULL:
       nothing. Local. Needs batches of 1 repetition. */
    void (*prepare)(void *context);
    void *context;
    int64_t repetitions;   /* in a batch; 0: enough for the clock */
    double clock_readings; /* pairs of readings in a batch, whose cost on this rank is subtracted */
    /* The ranks that the barrier before a batch releases; MPI_COMM_NULL on a rank that takes no
       part and need not wait. NULL: all of MPI_COMM_WORLD. */
    const MPI_Comm *participants;
    /* Starts a batch, after the repetition that isn't timed, in place of the barrier before it;
       NULL: the barrier. */
    struct bc_start_window *window;
};

/* On rank 0. The last three members are those of transfers. */
struct bc_batch_result {
    struct bc_summary repetition; /* in ns, without the cost of the clock: the time of the rank that
                                     is slowest in general, or in each round if a batch has one
                                     repetition; p99 and max are those of single repetitions */
    struct bc_summary counterpart, gain; /* its time, and how much longer that is, in ns; zeros
                                            without one */
    int64_t repetitions;                 /* in all samples, without the single ones */
    double total_s;                      /* the time of these */
    struct bc_outcome outcome; /* BC_OK if the precision was reached before the time was up, else
                                  BC_BUDGET */
    struct bc_summary latency; /* of one transfer, ns */
    double bwidth_mbs;
    const char *check; /* ok, FAIL or off */
};

/* One visit: samples batches within `seconds` (significant on rank 0), which include the choice of
   their length at the first visit. Before each batch come a barrier (or a window) and, where a
   batch has several repetitions, one that isn't timed. At least one rank must take part. Collective
   over MPI_COMM_WORLD. */
void bc_batch_visit(const struct bc_run *run, const struct bc_batch *batch, double seconds,
                    struct bc_batch_row *row);

/* Makes the result of all visits, writes the samples under the name `quantity` to the file of
   --dump-samples, and frees what the row holds. Local. */
void bc_batch_conclude(const struct bc_run *run, struct bc_batch_row *row, const char *quantity,
                       struct bc_batch_result *result);

/* The same with latency, bandwidth and check, of repetitions that are `transfers` transfers each of
   `ndata` doubles. Collective over MPI_COMM_WORLD. */
void bc_transfer_conclude(const struct bc_run *run, struct bc_batch_row *row, const char *quantity,
                          int transfers, int64_t ndata, struct bc_batch_result *result);

/* The columns of transfers, those of the EPCC Fortran coarray micro-benchmark suite. */
#define BC_TRANSFER_COLUMNS(type, member)                                                          \
    BC_COLUMN("nrep", BC_INFO, 0, type, member.repetitions),                                       \
        BC_COLUMN("time_s", BC_INFO, 6, type, member.total_s),                                     \
        BC_TIME_COLUMNS("latency", BC_LESS, 3, type, member.latency),                              \
        BC_COLUMN("bwidth_mbs", BC_INFO, 6, type, member.bwidth_mbs),                              \
        BC_COLUMN("check", BC_INFO, 0, type, member.check),                                        \
        BC_OUTCOME_COLUMNS(type, member.outcome)
