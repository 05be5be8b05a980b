/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/machine/in_process.h"

#include "common/clock/clock.h"
#include "common/stats/stats.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRONG_USAGE = 2, NOT_JUDGED = 77 };

static const struct part {
    const char *name;
    void (*pairs)(void);
} parts[] = {{"clock", clock_pairs}, {"tsc", tsc_pairs},  {"work", work_pairs},
             {"stops", stops_pairs}, {"l2", l2_pairs},    {"llc", llc_pairs},
             {"write", write_pairs}, {"copy", copy_pairs}};

enum { PARTS = sizeof parts / sizeof *parts };

void in_process_pair(const char *name, in_process_fn *ours, in_process_fn *bare, void *context,
                     int turns)
{
    double ours_found[IN_PROCESS_TURNS], bare_found[IN_PROCESS_TURNS];
    for (int turn = 0; turn < turns; turn++) {
        if (turn % 2 == 0)
            ours_found[turn] = ours(context);
        bare_found[turn] = bare(context);
        if (turn % 2 == 1)
            ours_found[turn] = ours(context);
    }
    if (printf("%s\t%.9g\t%.9g\n", name, bc_median(ours_found, (size_t)turns),
               bc_median(bare_found, (size_t)turns)) < 0)
        exit(EXIT_FAILURE);
}

_Noreturn void in_process_not_here(const char *reason)
{
    (void)printf("# %s\n", reason);
    (void)fflush(stdout);
    MPI_Finalize();
    exit(NOT_JUDGED);
}

int main(int argc, char **argv)
{
    const struct part *part = parts;
    while (part < parts + PARTS && (argc != 2 || strcmp(part->name, argv[1]) != 0))
        part++;
    if (part == parts + PARTS) {
        (void)fprintf(stderr, "usage: in_process clock|tsc|work|stops|l2|llc|write|copy\n");
        return WRONG_USAGE;
    }
    MPI_Init(&argc, &argv); /* for MPI_Wtime */
    bc_clock_select(BC_CLOCK_MONOTONIC);
    while (fflush(stdout) == 0)
        part->pairs();
    return EXIT_FAILURE;
}
