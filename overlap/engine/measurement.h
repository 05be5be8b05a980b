/*
 * A row while a visit measures it, and what the phases of a visit share. Internal to phases.c,
 * trials.c and test_calls.c.
 */
#pragma once

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "overlap/engine/calls.h"
#include "overlap/engine/row.h"
#include "overlap/engine/take.h"

#include <math.h>

/* Samples and what follows from them are significant on rank 0. */
struct overlap_measurement {
    struct overlap_state *overlap;
    const struct overlap_parameters *parameters;
    const struct bc_run *run;
    struct overlap_row *row;
    struct bc_output *debug; /* the run's with --debug, else NULL */
    bool root;               /* this is rank 0 */
    bool robust; /* the estimator is the robust one (the default), not the specification's mean */
    double end_s;
    struct overlap_experiment x;
    uint64_t part_units;          /* in each part of work on trial, or that is more than fits */
    uint64_t plenty_part_units;   /* in each part of plenty of work */
    struct bc_samples own;        /* this rank's times: enum overlap_own_quantity */
    struct bc_samples own_plenty; /* the same with plenty of work */
    struct bc_summary reference;  /* phase 1's */
};

static inline double overlap_seconds_left(const struct overlap_measurement *m)
{
    return fmax(0.0, m->end_s - bc_elapsed_s());
}

/* Returns rank 0's value. Collective. */
static inline int64_t overlap_of_root(int64_t value)
{
    bc_harness_bcast(&value, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return value;
}

/* Returns the units in each part that make this work together, by this rank's rate of work. */
static inline uint64_t overlap_own_part_units(const struct overlap_measurement *m, double work_ns)
{
    return bc_work_units(&m->overlap->rate, work_ns / (double)m->x.parts);
}

/* Returns the same by rank 0's rate. Collective. */
static inline uint64_t overlap_part_units(const struct overlap_measurement *m, double work_ns)
{
    return (uint64_t)overlap_of_root((int64_t)overlap_own_part_units(m, work_ns));
}

/* Chooses plenty of work for the row's reference time and the number of parts. Collective. */
static inline void overlap_choose_plenty(struct overlap_measurement *m)
{
    m->plenty_part_units = overlap_part_units(m, m->parameters->plenty * m->row->reference_ns);
}

/* The plan of this number of rounds, fewer if the time is up at deadline_s, at least one. */
static inline struct bc_plan overlap_plan_of(const struct overlap_measurement *m, int64_t rounds,
                                             double deadline_s)
{
    return (struct bc_plan){
        .min_rounds = rounds,
        .max_rounds = rounds,
        .deadline_s = deadline_s,
        .retakes = m->run->job.oversubscribed ? 0 : rounds,
    };
}

/* Keeps this rank's times of a round; plain_ns is the operation without work, or its blocking
   counterpart. */
static inline void overlap_keep(const struct overlap_measurement *m, double plain_ns,
                                const struct overlap_with_work *times, struct bc_samples *own)
{
    const double values[OVERLAP_OWN_QUANTITIES] = {
        [OVERLAP_OWN_PLAIN] = plain_ns - m->x.clock_ns,
        [OVERLAP_OWN_BESIDE] = times->beside_ns - m->x.clock_ns,
        [OVERLAP_OWN_INSIDE] = times->inside_ns,
        [OVERLAP_OWN_ALONE] = times->alone_ns,
    };
    bc_samples_append(own, values, OVERLAP_OWN_QUANTITIES, 0);
}

/* Writes the slowest ranks' times with plenty of work, of rounds `first` to `end` - 1, of the ranks
   that work. Collective; the same on every rank. */
static inline void overlap_slowest_gain(const struct overlap_measurement *m, size_t first,
                                        size_t end, double estimates_ns[OVERLAP_GAIN_ESTIMATED])
{
    double own_ns[OVERLAP_GAIN_ESTIMATED] = {-INFINITY, -INFINITY, -INFINITY};
    if (m->x.operation->works)
        overlap_gain_own(&m->own_plenty, first, end, own_ns);
    bc_harness_allreduce(own_ns, estimates_ns, OVERLAP_GAIN_ESTIMATED, MPI_DOUBLE, MPI_MAX,
                         MPI_COMM_WORLD);
}

/* ---- test_calls.c: the number of calls of MPI_Test with the min exposed time ------------------
 */

/* Tries numbers until the search ends, or until deadline_s. Collective; `search` counts on rank 0.
 */
void overlap_search_calls(struct overlap_measurement *m, double deadline_s,
                          struct overlap_calls_search *search);

/* Tries the numbers that are close to the best one again, and sets row->test_calls on all ranks.
   Collective. */
void overlap_settle_calls(struct overlap_measurement *m, double deadline_s,
                          struct overlap_calls_search *search);

/* ---- trials.c: trials of amounts of work; collective ------------------------------------------
 */

/* Returns the slowest ranks' estimates of those that work, by rounds `first` to `end` - 1 of each
   rank's own times. The same on every rank. */
struct overlap_estimates overlap_slowest_estimates(const struct overlap_measurement *m,
                                                   size_t first, size_t end);

/* Find the largest amount of work that fits, in about `seconds`, but try at least one; the second
   as specified, by the mean. Set row->search, and row->knee_ns and margin_ns by it: where later
   rounds look. */
void overlap_search_robustly(struct overlap_measurement *m, double seconds);
void overlap_search_by_mean(struct overlap_measurement *m, double seconds);

/* Gives all ranks the work that the row's knee and margin ask for; the second first makes the
   margin so wide that this is more work than fits, but little more. */
void overlap_choose_answer_work(struct overlap_measurement *m);
void overlap_choose_more_than_fits(struct overlap_measurement *m);
