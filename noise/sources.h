/*
 * Where stops come from: periodic sources (periods.h), by period and length, with the ranks that
 * have them; and stops of which single ranks have more than the others (uneven.h).
 */
#pragma once

#include "common/run/run.h"
#include "noise/periods.h"
#include "noise/uneven.h"

struct noise_source {
    bool is_periodic;
    struct noise_period period; /* NAN if irregular */
    struct noise_amount
        amount; /* mean over the ranks; lengths are medians if periodic, else means */
    int *ranks; /* that have it, ascending */
    int rank_count;
};

struct noise_sources {
    struct noise_source *source; /* those that stop ranks for longest first */
    int count;
};

/* Summarizes the values of visits, of which none is below 0, with an interval over visits. Leaves
   out those that are NAN; reorders `values`. */
struct bc_summary noise_over_visits(const struct bc_run *run, double *values, size_t count);

/* The stops in a visit, of one rank or summed over ranks. */
struct noise_sum {
    int64_t stops, stopped_ns, watched_ns;
};

/* Summarizes the stops of `count` visits. */
struct noise_amount noise_amount_over_visits(const struct bc_run *run, const struct noise_sum *sums,
                                             size_t count);

/* Finds the sources of all ranks, on rank 0; none on all others. Collective over MPI_COMM_WORLD.
   Rank 0 takes up to 35 KB a rank; without memory the job ends. */
void noise_sources_find(const struct bc_run *run, const struct noise_stops *stops,
                        const struct noise_limits *limits, struct noise_sources *sources);

void noise_sources_free(struct noise_sources *sources);
