/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By how much is the global clock off? On one machine all ranks read one clock, so what each of
 * them makes of its own must be just that; where the clocks of ranks are shifted in virtual time
 * (tests/virtual/clock.c), what the true time is. Each rank's clock is measured, though it is
 * shared.
 *
 *   global_clock_error TIMES SECONDS AHEAD_S [UPDATES PAUSE_S [past]]
 *
 * synchronises TIMES times within SECONDS, and then updates the last clock after pauses. Prints a
 * row for each: the greatest error over ranks when it was found, AHEAD_S after that, and just
 * before it was found again; the clock's stated error, and the time to find it. With `past` the
 * clock is one for the past; then a row for the first measurement of the last clock, for the last
 * one, and seven moments between: the greatest error, by how much one is beyond its bound, the
 * greatest bound, and how long after the first measurement the bound begins.
 */
#include "common/clock/clock.h"
#include "common/sync_clock/global_clock.h"
#include "common/clock/source.h"
#include "common/mpi/harness.h"
#include "common/measure/samples.h"

#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef int64_t unshift_fn(int64_t shifted_ns);
static unshift_fn *unshift; /* NULL: nothing shifts the clock */

/* The greatest error over ranks, in us, when this rank's clock shows now_ns. */
static double error_us(const struct bc_global_clock *clock, int64_t now_ns)
{
    const int64_t true_ns = unshift != NULL ? unshift(now_ns) : now_ns;
    double error =
        fabs((double)(bc_clock_model_reference(bc_global_clock_model(clock), now_ns) - true_ns)) *
        1e-3;
    bc_harness_allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return error;
}

static void print_row(int rank, const char *what, double before_us,
                      const struct bc_global_clock *clock, double ahead_s)
{
    const int64_t now_ns = bc_now_ns();
    const double after_us = error_us(clock, now_ns);
    const double later_us = error_us(clock, now_ns + (int64_t)(ahead_s * 1e9));
    const struct bc_global_clock_report report = bc_global_clock_report(clock);
    if (rank == 0)
        printf("%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", what, before_us, after_us, later_us,
               report.error_ns * 1e-3, report.bound_ns * 1e-3, report.took_s);
    fflush(stdout);
}

static void print_past(int rank, const struct bc_global_clock *clock, int64_t first_ns,
                       int64_t last_ns)
{
    enum { MOMENTS = 8 };
    for (int i = 0; i <= MOMENTS; i++) {
        const int64_t then_ns = first_ns + (last_ns - first_ns) / MOMENTS * i;
        const int64_t true_ns = unshift != NULL ? unshift(then_ns) : then_ns;
        const int64_t found_ns = bc_clock_model_reference(bc_global_clock_model(clock), then_ns);
        const double error_us = fabs((double)(found_ns - true_ns)) * 1e-3;
        const double bound_us = bc_clock_bound_ns(bc_global_clock_bound(clock), then_ns) * 1e-3;
        const double since_s = (double)(bc_global_clock_bound(clock)->first_ns - first_ns) * 1e-9;
        double most[] = {error_us, error_us - bound_us, bound_us, since_s};
        bc_harness_allreduce(MPI_IN_PLACE, most, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0)
            printf("past\tNA\t%.4f\t%.4f\tNA\t%.4f\t%.4f\n", most[0], most[1], most[2], most[3]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 4) {
        fprintf(stderr, "usage: global_clock_error TIMES SECONDS AHEAD_S "
                        "[UPDATES PAUSE_S [past]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int times = (int)strtol(argv[1], NULL, 10);
    const double seconds = strtod(argv[2], NULL);
    const double ahead_s = strtod(argv[3], NULL);
    const int updates = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 0;
    const double pause_s = argc > 5 ? strtod(argv[5], NULL) : 0.0;
    const unsigned options = BC_EVERY_RANK | (argc > 6 ? BC_WHOLE_PAST : 0);
    *(void **)&unshift = dlsym(RTLD_DEFAULT, "clock_shift_undo");
    struct bc_job job;
    bc_job_describe(&job);
    bc_harness_choose(job.oversubscribed);
    bc_clock_select(BC_CLOCK_MONOTONIC);
    if (job.rank == 0)
        printf("step\tbefore_us\tafter_us\tlater_us\tstated_us\tbound_us\t"
               "took_s\n");
    struct bc_global_clock *clock = NULL;
    int64_t first_ns = 0;
    for (int i = 0; i < times; i++) {
        bc_global_clock_destroy(clock);
        clock = bc_global_clock_create(&job, seconds, options);
        first_ns = bc_now_ns();
        print_row(job.rank, "new", NAN, clock, ahead_s);
    }
    for (int i = 0; i < updates && clock != NULL; i++) {
        bc_sleep_ns((int64_t)(pause_s * 1e9));
        const double before_us = error_us(clock, bc_now_ns());
        bc_global_clock_update(clock);
        print_row(job.rank, "update", before_us, clock, ahead_s);
    }
    if (argc > 6)
        print_past(job.rank, clock, first_ns, bc_now_ns());
    bc_global_clock_destroy(clock);
    bc_job_free(&job);
    MPI_Finalize();
    return 0;
}
