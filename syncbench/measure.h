/* The timed loops of syncbench (kernel.c), and one row: what a synchronisation adds to a loop of
   delays. */
#pragma once

#include "common/run/run.h"
#include "common/sync_clock/start_window.h"
#include "syncbench/columns.h"
#include "syncbench/kinds.h"

#include <stdbool.h>
#include <stdint.h>

/* A loop of `inner` repetitions. Where ranks take turns each rank makes its share of them, and
   in the reference loop one rank makes all of them. */
struct syncbench_loop {
    const struct syncbench_kind *kind;
    struct syncbench_team *team;
    int64_t inner;
    uint64_t delay_units; /* of work, in each repetition */
    int rank, ranks;
    struct bc_start_window *window; /* starts the loop; NULL: a barrier does */
};

/* The quantities of a round. */
enum syncbench_quantity { SYNCBENCH_LOOP, SYNCBENCH_REFERENCE, SYNCBENCH_QUANTITIES };

/* The time in ns of the loop with its synchronisations, and of the reference loop, which has none.
   Call after a barrier, unless there is a window: these functions wait for it. Collective. */
double syncbench_time_loop(const struct syncbench_loop *loop);
double syncbench_time_reference(const struct syncbench_loop *loop);

/* What a row is of, and remembers from visit to visit; the latter zeros before the first one. */
struct syncbench_row {
    const struct syncbench_kind *kind;
    int n;          /* neighbours in a ring */
    int neighbours; /* those that there are */
    int64_t wrong;  /* errors of checks on this rank */

    int64_t inner; /* repetitions of the loop; the same on every rank */
    struct bc_samples loops, singles;
    bool in_time; /* the last visit was precise before its time was up; rank 0 */
};

/* One visit within `seconds` (significant on rank 0). Loop and reference are timed in turn, a
   barrier (or a window) before each, and a sample of the synchronisation is the difference of two
   that follow one another. `inner` of the loop is the number of repetitions, or, if `shrinks`, its
   max; the first visit finds the number then. Collective over MPI_COMM_WORLD. */
void syncbench_visit(const struct bc_run *run, const struct syncbench_loop *loop, bool shrinks,
                     double seconds, struct syncbench_row *row);

/* Whether the synchronisation's time is as precise as the settings ask for. Local; rank 0. */
bool syncbench_is_precise(const struct bc_run *run, const struct syncbench_row *row);

/* Makes the result of all visits and frees what the row holds. Under the mean the synchronisation
   is the difference of the means and its interval 1.96 (sd + reference sd) to both sides, as
   specified. Local. */
void syncbench_conclude(const struct bc_run *run, struct syncbench_row *row,
                        struct syncbench_result *result);
