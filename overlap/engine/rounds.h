/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds of the method: loops whose lines are the quantities. Each time has new buffers and
 * different data before the operation (--buffers=new, --check), a release of all ranks, the timed
 * region (kernel.h, kernel_device.h), and the data check. Ranks that don't work serve the
 * operation; their times are ignored.
 */
#pragma once

#include "common/measure/rounds.h"
#include "common/operations/operation.h"
#include "overlap/engine/gain.h"
#include "overlap/engine/work.h"

/* The operation, the work under it, and its timing on this rank. */
struct overlap_experiment {
    struct op_instance *operation;
    struct op_instance *staged;   /* the same operation in pinned memory; NULL: not timed */
    struct overlap_worker worker; /* does the work; all zeros: the processor */
    bool blocking;                /* the blocking counterpart is timed, too */
    bool check;
    bool renews;     /* each operation has new buffers */
    bool by_barrier; /* barriers release ranks even if there is a window */
    double clock_ns; /* the cost of a reading on this rank */

    int64_t parts;                     /* of all work; `between` is called between two parts */
    uint64_t part_units;               /* in each part of work on trial, or beyond the knee */
    uint64_t plenty_part_units;        /* in each part of plenty of work */
    const uint64_t *amount_part_units; /* in each part of each amount of work */

    struct bc_samples own;        /* this rank's times: enum overlap_own_quantity */
    struct bc_samples own_plenty; /* the same times with plenty of work */
    double kernel_ns;             /* of the last kernel alone, if a device works */
    int64_t wrong;                /* operations with wrong data, on this rank */
};

enum overlap_call { OVERLAP_CALL_REFERENCE, OVERLAP_CALL_TOTAL, OVERLAP_CALL_BLOCKING };

/* Times the operation without work, with `units` of work in each part, or its blocking counterpart.
   Returns this rank's time in ns with the cost of a reading of the clock, or -INFINITY if it
   doesn't work. Notes the start for a quantity of the round, which may be NULL with by_barrier.
   `units` are a kernel's steps if a device works. Collective. */
double overlap_take(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                    enum overlap_call call, uint64_t units);

/* The functions below take rounds by the plan; on rank 0 they append to `samples`. Collective. */

/* Measure the reference alone, and the total with the work on trial alone, as quantity 0. */
void overlap_reference_rounds(const struct bc_run *run, struct overlap_experiment *x,
                              const struct bc_plan *plan, struct bc_samples *samples);
void overlap_total_rounds(const struct bc_run *run, struct overlap_experiment *x,
                          const struct bc_plan *plan, struct bc_samples *samples);

/* Measures the exposed time: keeps own_plenty, with 0 for the blocking counterpart. */
void overlap_plenty_rounds(const struct bc_run *run, struct overlap_experiment *x,
                           const struct bc_plan *plan);

/* Calls the counterparts, untimed. */
void overlap_counterpart_rounds(const struct bc_run *run, struct overlap_experiment *x,
                                const struct bc_plan *plan);

/* Measures reference and beside: keeps `own`. */
void overlap_trial_rounds(const struct bc_run *run, struct overlap_experiment *x,
                          const struct bc_plan *plan);

/* Measures all quantities: keeps `own` and own_plenty. */
void overlap_answer_rounds(const struct bc_run *run, struct overlap_experiment *x,
                           const struct bc_plan *plan, struct bc_samples *samples);

/* Return the estimates, and the gain with plenty of work, from rounds `first` to `end` - 1 of the
   slowest of the ranks that work. Collective; the same on every rank. */
struct overlap_estimates overlap_slowest_estimates(const struct bc_run *run,
                                                   const struct overlap_experiment *x, size_t first,
                                                   size_t end);
void overlap_slowest_gain(const struct overlap_experiment *x, size_t first, size_t end,
                          double estimates_ns[OVERLAP_GAIN_ESTIMATED]);
