/*
 * Is what syncbench reports for MPI barrier what a bare loop of MPI_Barrier takes?
 * Both are measured in one process, in turn; prints both and the interval. To be run
 * on 2 ranks, by syncbench_bare.py.
 */
#include "common/clock/work.h"
#include "common/run/benchmark.h"
#include "syncbench/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 5, ROUNDS = 2000, REPETITIONS = 25 };

#define BLOCK_S 0.1
#define DELAY_NS 100.0

static const struct syncbench_kind *mpi_barrier(void)
{
    const struct syncbench_kind *kind = syncbench_kinds;
    while (strcmp(kind->name, "MPI barrier") != 0)
        kind++;
    return kind;
}

/* Microseconds of an MPI_Barrier in a loop of nothing else, the median. */
static double bare_us(void)
{
    static double loops_us[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (int k = 0; k < REPETITIONS; k++)
            MPI_Barrier(MPI_COMM_WORLD);
        loops_us[i] = (MPI_Wtime() - start) * 1e6 / REPETITIONS;
    }
    return bc_median(loops_us, ROUNDS);
}

static struct bc_summary ours(const struct bc_run *run, const struct syncbench_loop *loop)
{
    struct syncbench_row row = {.inner = 0};
    struct syncbench_result result;
    syncbench_visit(run, loop, true, BLOCK_S, &row);
    syncbench_conclude(run, &row, &result);
    return result.sync;
}

static void compare(void *state, struct bc_run *run)
{
    (void)state;
    run->visits = 1;
    const struct bc_work_rate rate = bc_work_calibrate();
    struct bc_coarray coarray;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 1);
    struct syncbench_team team = {.coarray = &coarray};
    const struct syncbench_loop loop = {
        .kind = mpi_barrier(),
        .team = &team,
        .inner = 200,
        .delay_units = bc_work_units(&rate, DELAY_NS),
        .rank = run->job.rank,
        .ranks = run->job.ranks,
    };
    double ours_us[BLOCKS], bares_us[BLOCKS], widths_us[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        const struct bc_summary sync = ours(run, &loop);
        bares_us[i] = bare_us();
        ours_us[i] = sync.value * 1e-3;
        widths_us[i] = (sync.interval.hi - sync.interval.lo) / 2.0 * 1e-3;
    }
    if (run->job.rank == 0)
        printf("sync_us %.4f half_width_us %.4f bare_us %.4f\n", bc_median(ours_us, BLOCKS),
               bc_median(widths_us, BLOCKS), bc_median(bares_us, BLOCKS));
    bc_coarray_destroy(&coarray);
}

const struct bc_benchmark syncbench_bare_benchmark = {
    .name = "syncbench_bare",
    .summary = "Compares syncbench's MPI barrier with a bare loop.",
    .open = compare,
};
