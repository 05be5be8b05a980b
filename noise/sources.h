/*
 * Where stops come from: those that come periodically (periods.h), by period and length, with the
 * ranks that have them; and others of which single ranks have more than the rest (uneven.h).
 */
#ifndef COMMCOST_NOISE_SOURCES_H
#define COMMCOST_NOISE_SOURCES_H

#include "common/run/run.h"
#include "noise/periods.h"
#include "noise/stops.h"
#include "noise/uneven.h"

struct noise_source {
    bool is_periodic;
    struct noise_period period;
    struct bc_summary per_s;     /* over visits; the mean over the ranks below */
    struct bc_summary length_ns; /* of a stop: the median with a period, else the mean; likewise */
    struct bc_summary stopped_pct; /* of a rank's time, likewise */
    int *ranks;                    /* that have it, ascending */
    int rank_count;
};

struct noise_sources {
    struct noise_source *source; /* those that stop ranks for longest first */
    int count;
};

/* Summarizes what visits say of a quantity that is never below 0, by the estimator and at the
   confidence of the settings; without an interval if there is one visit only. */
struct bc_summary noise_over_visits(const struct bc_run *run, const double *values, size_t count);

/* Finds the sources of all ranks, on rank 0; empty on all others. Collective over MPI_COMM_WORLD.
   Rank 0 takes up to 35 KB a rank; without memory the job ends. */
void noise_sources_find(const struct bc_run *run, const struct noise_stops *stops,
                        const struct noise_limits *limits, struct noise_sources *sources);

void noise_sources_free(struct noise_sources *sources);

#endif
