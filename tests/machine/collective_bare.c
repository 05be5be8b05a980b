/*
 * Is the time that collective reports that of the same call written out? A bare round: both ranks
 * agree on a moment on the clock that a node's ranks share, wait for it and call. Its time is from
 * the first start to the last end; a round in which a rank started late is taken again. The bare
 * loop's buffers are those of an operation of the same kind, since their size and place alone can
 * change the time by half. Environment variable BARE_QUANTITY=own|skew: the mean of the ranks' own
 * times, or the time between the first end and the last one, instead.
 */
#include "tests/machine/program.h"

#include "collective/collective.c" /* NOLINT(bugprone-suspicious-include): the loop is in the program's own file */

#undef main
#undef measure
#undef write_row
#undef list_rows

#include "tests/machine/bare.h"

#include <stdlib.h>
#include <string.h>

/* How long before the start ranks agree on it, as the benchmark does: after 10 us of waiting, where
   1 us is enough, a call of 4 KiB takes up to a fifth longer (MPICH 4.0.2, a virtual machine). */
#define SLACK_MIN_NS 1000.0
#define SLACK_MAX_NS 1e6
#define SLACK_RAISE 2.0
#define SLACK_LOWER 0.99

/* A start is late that is later than this and LATE_READINGS readings of the clock. */
#define LATE_NS 100.0
#define LATE_READINGS 4.0

struct row {
    int number;
    struct collective_row ours;
    struct bare_row bare;
};

/* What both loops of a visit use. */
struct visit {
    struct bc_run *run;
    struct row *row;
    double seconds;
    void *sent, *received;
    int count; /* of doubles in a block */
    double slack_ns;
    bool is_precise;
};

/* ---- calls ----------------------------------------------------------------------------------- */

static void bcast(const struct visit *visit)
{
    MPI_Bcast(visit->run->job.rank == 0 ? visit->sent : visit->received, visit->count, MPI_DOUBLE,
              0, MPI_COMM_WORLD);
}

static void allreduce(const struct visit *visit)
{
    MPI_Allreduce(visit->sent, visit->received, visit->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(const struct visit *visit)
{
    MPI_Alltoall(visit->sent, visit->count, MPI_DOUBLE, visit->received, visit->count, MPI_DOUBLE,
                 MPI_COMM_WORLD);
}

/* None of a few bytes: a reading of the clock, of which a single timing has one, is too much of
   them. */
static const struct {
    const char *name;
    const struct op_kind *kind;
    void (*call)(const struct visit *visit);
    int bytes; /* of a block */
} calls[] = {
    {"bcast of 4 KiB", &op_bcast, bcast, 4096},
    {"bcast of 64 KiB", &op_bcast, bcast, 65536},
    {"allreduce of 4 KiB", &op_allreduce, allreduce, 4096},
    {"allreduce of 64 KiB", &op_allreduce, allreduce, 65536},
    {"alltoall of 4 KiB", &op_alltoall, alltoall, 4096},
    {"alltoall of 64 KiB", &op_alltoall, alltoall, 65536},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* ---- rounds ---------------------------------------------------------------------------------- */

static bool is_quantity(const char *name)
{
    const char *const chosen = getenv("BARE_QUANTITY");
    return chosen != NULL && strcmp(chosen, name) == 0;
}

static double mean_ns(double ns, const struct visit *visit)
{
    MPI_Allreduce(MPI_IN_PLACE, &ns, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return ns / visit->run->job.ranks;
}

/* Returns the quantity of a round; -1.0 if a rank started late. */
static double bare_round(struct visit *visit)
{
    int64_t agreed_ns = bc_now_ns() + (int64_t)visit->slack_ns;
    MPI_Allreduce(MPI_IN_PLACE, &agreed_ns, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    const double spare_ns = (double)(agreed_ns - bc_now_ns());
    if (spare_ns < 0.0 && visit->slack_ns < SLACK_MAX_NS)
        visit->slack_ns *= SLACK_RAISE;
    else if (spare_ns > visit->slack_ns / 2.0 && visit->slack_ns > SLACK_MIN_NS)
        visit->slack_ns *= SLACK_LOWER;
    while (bc_now_ns() < agreed_ns)
        ;
    const int64_t start_ns = bc_now_ns();
    calls[visit->row->number].call(visit);
    const int64_t end_ns = bc_now_ns();
    int64_t all[] = {end_ns, -end_ns, start_ns,
                     -start_ns}; /* last end, first end, the same of starts */
    MPI_Allreduce(MPI_IN_PLACE, all, 4, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    const double late_ns = LATE_NS + LATE_READINGS * visit->run->max_clock.read_ns;
    if ((double)(all[2] - agreed_ns) > late_ns)
        return -1.0;
    if (is_quantity("own"))
        return mean_ns((double)(end_ns - start_ns), visit);
    if (is_quantity("skew")) /* two single readings: bare_visit's deduction is undone */
        return (double)(all[0] + all[1]) + visit->run->own_clock.read_ns;
    return (double)(all[0] + all[3]);
}

static double bare(void *context)
{
    double ns = -1.0;
    while (ns < 0.0)
        ns = bare_round(context);
    return ns;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void measure_ours(void *memory)
{
    struct visit *const visit = memory;
    struct collective_row *const row = &visit->row->ours;
    row->kind = calls[visit->row->number].kind;
    row->elements = visit->count;
    const struct collective ours = {collective_default_parameters, visit->run, NULL};
    struct bc_visit step = {.row = row, .seconds = visit->seconds * BARE_OURS};
    program_measure(&ours, &step);
    visit->is_precise = step.is_precise;
}

static void measure_bare(void *memory)
{
    struct visit *const visit = memory;
    const struct op_choice choice = {.form = OP_BLOCKING_CALL, .elements = visit->count};
    struct op_instance operation;
    op_create(&operation, calls[visit->row->number].kind, &visit->run->job, &choice);
    visit->sent = operation.send_buffer.start;
    visit->received = operation.receive_buffer.start;
    bare_visit(visit->run, bare, NULL, visit, 1, visit->seconds, &visit->row->bare);
    op_destroy(&operation);
}

static void measure(struct bc_run *run, struct bc_visit *step)
{
    struct row *const row = step->row;
    struct visit visit = {
        .run = run,
        .row = row,
        .seconds = step->seconds,
        .count = calls[row->number].bytes / (int)sizeof(double),
        .slack_ns = SLACK_MIN_NS,
    };
    bare_in_turn(run, measure_ours, measure_bare, &visit);
    step->is_precise = visit.is_precise;
}

static void write_row(struct bc_run *run, struct row *row)
{
    const struct collective collective = {collective_default_parameters, run, NULL};
    struct collective_result ours;
    collective_conclude(&collective, &row->ours, &ours);
    const struct bc_summary *const summary = is_quantity("own")    ? &ours.own
                                             : is_quantity("skew") ? &ours.skew
                                                                   : &ours.time;
    bare_write_row(run, calls[row->number].name, summary, &ours.outcome, &row->bare);
}

static const struct bc_program collective_bare_program = {
    .name = "collective_bare",
    .summary = "Compares collective's times with bare calls.",
    .has_start = true,
    .start = BC_START_WINDOW,
    BARE_PROGRAM,
};

int main(int argc, char **argv)
{
    char state; /* nothing is kept there */
    struct bc_run *const run = bc_start(&collective_bare_program, &state, argc, argv);
    bc_open_result(run, &bare_table, "");
    bare_list(run, CALLS);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(run, visit);
        else
            write_row(run, visit->row);
    return bc_finish(run);
}
