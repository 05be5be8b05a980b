/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective: both ranks agree on a moment on the clock that a node's ranks share, wait for it and
 * call. The time is from the first start to the last end; a call for which a rank started late is
 * repeated. The bare loop's buffers are those of an operation of the same kind, since their size
 * and place alone can change the time by half. Environment variable BARE_QUANTITY=own|skew: the
 * mean of the ranks' own times, or the time between the first end and the last one, instead.
 */
#define main program_main
#include "collective/collective.c" /* NOLINT(bugprone-suspicious-include): the loop is in the program's own file */
#undef main

#include "common/clock/clock.h"
#include "tests/machine/bare.h"

#include <stdlib.h>
#include <string.h>

/* How long before the start ranks agree on it, as the benchmark does: after 10 us of waiting, where
   1 us is enough, a call of 4 KiB takes up to a fifth longer (MPICH 4.0.2, a virtual machine). */
#define SLACK_MIN_NS 1000.0
#define SLACK_MAX_NS 1e6
#define SLACK_RAISE 2.0
#define SLACK_LOWER 0.99

/* A late start is later than this and LATE_READINGS readings of the clock. */
#define LATE_NS 100.0
#define LATE_READINGS 4.0

struct row {
    struct bare_row bare;
    struct collective_row ours;
};

static struct op_instance operation; /* whose buffers the bare calls use */
static int chosen;
static double slack_ns;

/* ---- calls ----------------------------------------------------------------------------------- */

typedef void call_fn(void *sent, void *received, int count);

static void bcast(void *sent, void *received, int count)
{
    MPI_Bcast(bare_run->job.rank == 0 ? sent : received, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void allreduce(void *sent, void *received, int count)
{
    MPI_Allreduce(sent, received, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(void *sent, void *received, int count)
{
    MPI_Alltoall(sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* None of a few bytes: a reading of the clock, of which a single timing has one, is too much of
   them. */
enum { CALLS = 6 };
static const char *const names[CALLS] = {"bcast of 4 KiB",     "bcast of 64 KiB",
                                         "allreduce of 4 KiB", "allreduce of 64 KiB",
                                         "alltoall of 4 KiB",  "alltoall of 64 KiB"};
static const struct op_kind *const kinds[CALLS / 2] = {&op_bcast, &op_allreduce, &op_alltoall};
static call_fn *const calls[CALLS / 2] = {bcast, allreduce, alltoall};

/* Returns the doubles in a block. */
static int count_of(int row) { return (row % 2 == 0 ? 4096 : 65536) / (int)sizeof(double); }

/* ---- bare rounds ----------------------------------------------------------------------------- */

static bool is_quantity(const char *name)
{
    const char *const quantity = getenv("BARE_QUANTITY");
    return quantity != NULL && strcmp(quantity, name) == 0;
}

static double mean_ns(double ns)
{
    MPI_Allreduce(MPI_IN_PLACE, &ns, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return ns / bare_run->job.ranks;
}

/* Returns the quantity of a round; -1.0 if a rank started late. */
static double time_round(void)
{
    int64_t agreed_ns = bc_now_ns() + (int64_t)slack_ns;
    MPI_Allreduce(MPI_IN_PLACE, &agreed_ns, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    const double spare_ns = (double)(agreed_ns - bc_now_ns());
    if (spare_ns < 0.0 && slack_ns < SLACK_MAX_NS)
        slack_ns *= SLACK_RAISE;
    else if (spare_ns > slack_ns / 2.0 && slack_ns > SLACK_MIN_NS)
        slack_ns *= SLACK_LOWER;
    while (bc_now_ns() < agreed_ns)
        ;
    const int64_t start_ns = bc_now_ns();
    calls[chosen / 2](operation.send_buffer.start, operation.receive_buffer.start,
                      count_of(chosen));
    const int64_t end_ns = bc_now_ns();
    /* The last end and start; the opposites of the first ones. */
    int64_t all[] = {end_ns, -end_ns, start_ns, -start_ns};
    MPI_Allreduce(MPI_IN_PLACE, all, 4, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    const double late_ns = LATE_NS + LATE_READINGS * bare_run->max_clock.read_ns;
    if ((double)(all[2] - agreed_ns) > late_ns)
        return -1.0;
    if (is_quantity("own"))
        return mean_ns((double)(end_ns - start_ns));
    if (is_quantity("skew")) /* two single readings: the loop's deduction is undone */
        return (double)(all[0] + all[1]) + bare_run->own_clock.read_ns;
    return (double)(all[0] + all[3]);
}

static double time_once(void)
{
    double ns = -1.0;
    while (ns < 0.0)
        ns = time_round();
    return ns;
}

/* ---- the benchmark --------------------------------------------------------------------------- */

static void begin_visit(const struct bare_row *row)
{
    chosen = row->number;
    slack_ns = SLACK_MIN_NS;
}

static void begin_bare(const struct bare_row *row)
{
    const struct op_choice choice = {.form = OP_BLOCKING_CALL, .elements = count_of(row->number)};
    op_create(&operation, kinds[row->number / 2], &bare_run->job, &choice);
}

static void end_bare(void) { op_destroy(&operation); }

static bool measure_ours(struct bare_row *bare, double seconds)
{
    const struct collective collective = {collective_default_parameters, bare_run, NULL};
    struct collective_row *const ours = &((struct row *)bare)->ours;
    struct bc_visit visit = {.row = ours, .seconds = seconds};
    ours->kind = kinds[bare->number / 2];
    ours->elements = count_of(bare->number);
    measure(&collective, &visit);
    return visit.is_precise;
}

static void conclude(struct bare_row *bare, struct bc_summary *ours, struct bc_outcome *outcome)
{
    const struct collective collective = {collective_default_parameters, bare_run, NULL};
    struct collective_result result;
    collective_conclude(&collective, &((struct row *)bare)->ours, &result);
    *ours = is_quantity("own") ? result.own : is_quantity("skew") ? result.skew : result.time;
    *outcome = result.outcome;
}

const struct bare_benchmark bare_benchmark = {
    .program = {.name = "collective_bare",
                .summary = "Compares collective with bare calls.",
                .has_start = true,
                .start = BC_START_WINDOW,
                .row_bytes = sizeof(struct row),
                BARE_PROGRAM},
    .names = names,
    .rows = CALLS,
    .begin_visit = begin_visit,
    .begin_bare = begin_bare,
    .end_bare = end_bare,
    .measure = measure_ours,
    .conclude = conclude,
    .time_once = time_once,
};
