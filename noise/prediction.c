/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicted slowdown of a program whose ranks synchronise repeatedly.
 *
 * A step is some work and an operation in which all ranks wait for the rank that is stopped
 * longest. Time, on a clock that all ranks share, is divided into cells as long as an undisturbed
 * step. In each cell all ranks lose the max over ranks of the stopped time. Simultaneous stops of
 * several ranks, such as those of daemons that run at full seconds, cost time once, and a stop
 * longer than a step fills whole cells.
 *
 * Sources: Petrini, Kerbyson and Pakin, "The Case of the Missing Supercomputer Performance", SC
 * 2003; noise traces combined over ranks: Hoefler, Schneider and Lumsdaine, "Characterizing the
 * Influence of System Noise on Large-Scale Applications by Simulation", SC 2010.
 */
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "noise/rank_stops.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Cells per reduction, and max cells of all visits. */
enum { CELLS_AT_ONCE = 1 << 15, CELLS_MAX = 1 << 22 };

int noise_cell_part(double cells, double max, int part, double *first)
{
    const bool all_fit = cells <= fmax(max, CELLS_AT_ONCE);
    const double parts =
        all_fit ? ceil(cells / CELLS_AT_ONCE) : fmax(1.0, floor(max / CELLS_AT_ONCE));
    *first = all_fit ? (double)part * CELLS_AT_ONCE : floor(cells * part / parts);
    return part < parts ? (int)fmin(CELLS_AT_ONCE, cells - *first) : 0;
}

size_t noise_fill_cells(const struct noise_stops *stops, size_t from, double begin_ns,
                        double cell_ns, float *cells, int count)
{
    const double end_ns = begin_ns + count * cell_ns;
    size_t first_open = stops->count;
    for (size_t i = from; i < stops->count; i++) {
        const double stop_ns = (double)stops->stop[i].begin_ns;
        const double over_ns = stop_ns + (double)stops->stop[i].length_ns;
        if (over_ns > end_ns && first_open == stops->count)
            first_open = i;
        if (stop_ns >= end_ns)
            break;
        if (over_ns <= begin_ns)
            continue;
        const int last = (int)fmin(count - 1, floor((over_ns - begin_ns) / cell_ns));
        for (int cell = (int)fmax(0.0, floor((stop_ns - begin_ns) / cell_ns)); cell <= last;
             cell++) {
            const double from_ns = fmax(stop_ns, begin_ns + cell * cell_ns);
            const double to_ns = fmin(over_ns, begin_ns + (cell + 1) * cell_ns);
            if (to_ns > from_ns)
                cells[cell] += (float)(to_ns - from_ns);
        }
    }
    return first_open;
}

/* Finds the time in which all ranks were watched in a visit. Collective. */
static void common_span(const struct noise_watch *watch, int64_t span_ns[2])
{
    /* The max of the begins, and by negation the min of the ends. */
    int64_t ends_ns[2] = {watch->begin_ns, -watch->end_ns};
    if (watch->quanta == 0)
        ends_ns[0] = ends_ns[1] = INT64_MAX / 2; /* an empty span */
    bc_harness_allreduce(ends_ns, span_ns, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    span_ns[1] = -span_ns[1];
}

/* Returns the slowdown in a visit on rank 0; NAN if ranks' times don't overlap. Collective. */
static double predict_visit(const struct noise_stops *stops, const struct noise_watch *watch,
                            double step_ns, double cells_max)
{
    int64_t span_ns[2];
    common_span(watch, span_ns);
    const double cells_there = floor((double)(span_ns[1] - span_ns[0]) / step_ns);
    if (cells_there < 1.0)
        return NAN;
    float *const own = bc_allocate(CELLS_AT_ONCE, sizeof *own, "no memory for cells");
    float *const max = bc_allocate(CELLS_AT_ONCE, sizeof *max, "no memory for cells");
    double lost_ns = 0.0, all_ns = 0.0, first;
    size_t from = 0;
    int count;
    for (int i = 0; (count = noise_cell_part(cells_there, cells_max, i, &first)) > 0; i++) {
        memset(own, 0, (size_t)count * sizeof *own);
        from = noise_fill_cells(stops, from, (double)span_ns[0] + first * step_ns, step_ns, own,
                                count);
        bc_harness_reduce(own, max, count, MPI_FLOAT, MPI_MAX, 0, MPI_COMM_WORLD);
        for (int cell = 0; cell < count; cell++)
            lost_ns += fmin((double)max[cell], step_ns);
        all_ns += count * step_ns;
    }
    free(own);
    free(max);
    return 100.0 * lost_ns / fmax(all_ns - lost_ns, step_ns);
}

void noise_predict(const struct noise_stops *stops, const double *step_ns, double *slowdown_pct)
{
    for (int i = 0; i < stops->visit_count; i++)
        slowdown_pct[i] = step_ns[i] > 0.0 ? predict_visit(stops, &stops->visits[i], step_ns[i],
                                                           (double)CELLS_MAX / stops->visit_count)
                                           : NAN;
}
