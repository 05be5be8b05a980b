/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a visit, shared by its phases: phases.c and test_calls.c. */
#pragma once

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "overlap/engine/calls.h"
#include "overlap/engine/row.h"
#include "overlap/engine/rounds.h"

#include <math.h>

/* Samples and results are significant on rank 0. */
struct overlap_measurement {
    struct overlap_state *overlap;
    const struct overlap_parameters *parameters;
    const struct bc_run *run;
    struct overlap_row *row;
    struct bc_output *debug; /* the run's with --debug, else NULL */
    bool root;               /* this is rank 0 */
    bool robust;             /* the estimator isn't the specification's mean */
    double end_s;
    struct overlap_experiment x;
    struct bc_summary reference; /* phase 1's */
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

/* Returns the units of each part of this work, by this rank's rate. */
static inline uint64_t overlap_own_part_units(const struct overlap_measurement *m, double work_ns)
{
    return bc_work_units(&m->overlap->rate, work_ns / (double)m->x.parts);
}

/* Returns the units of each part, by rank 0's rate. Collective. */
static inline uint64_t overlap_part_units(const struct overlap_measurement *m, double work_ns)
{
    return (uint64_t)overlap_of_root((int64_t)overlap_own_part_units(m, work_ns));
}

/* Chooses plenty of work for the row's reference and parts. Collective. */
static inline void overlap_choose_plenty(struct overlap_measurement *m)
{
    m->x.plenty_part_units = overlap_part_units(m, m->parameters->plenty * m->row->reference_ns);
}

/* Returns the plan of `rounds` rounds, fewer if time is up at deadline_s, at least one. */
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

/* ---- test_calls.c: the number of calls of MPI_Test with the min exposed time ------------------
 */

/* Tries numbers until the search ends, or until deadline_s. Collective; `search` is significant on
   rank 0. */
void overlap_search_calls(struct overlap_measurement *m, double deadline_s,
                          struct overlap_calls_search *search);

/* Tries numbers close to the best again, and sets row->test_calls on all ranks. Collective. */
void overlap_settle_calls(struct overlap_measurement *m, double deadline_s,
                          struct overlap_calls_search *search);
