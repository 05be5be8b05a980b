/*
 * Are the times that pingpong reports those of bare loops? Of MPI Send: MPI_Send and MPI_Recv. Of
 * a put: MPI_Put, and after it, on both ranks, completion and an exchange of empty messages. Times
 * are of a repetition, there and back. Environment variable BARE_COUNT: the number of doubles that
 * go; 1 where it isn't set.
 */
#include "pingpong/pingpong.h"
#include "tests/machine/bare.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 2 };

/* What both loops of a visit use: the same memory, since where it lies makes up to 3 %. */
struct loops {
    const struct bc_run *run;
    const struct bare_pingpong *pingpong;
    struct row *row;
    double seconds;
    struct bc_coarray coarray;
    int rank, partner;
    int64_t repetitions;
    int count; /* of doubles */
};

struct row {
    int number;
    struct bc_store ours;
    struct bare_row bare;
};

/* ---- bare loops ------------------------------------------------------------------------------ */

static void send(const struct loops *visit)
{
    MPI_Send(visit->coarray.values, visit->count, MPI_DOUBLE, visit->partner, TAG, MPI_COMM_WORLD);
}

static void receive(const struct loops *visit)
{
    MPI_Recv(visit->coarray.values, visit->count, MPI_DOUBLE, visit->partner, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void messages(const struct loops *visit, int64_t repetitions)
{
    for (int64_t i = 0; i < repetitions; i++)
        if (visit->rank == 0) {
            send(visit);
            receive(visit);
        } else {
            receive(visit);
            send(visit);
        }
}

static void put(const struct loops *visit)
{
    MPI_Put(visit->coarray.values, visit->count, MPI_DOUBLE, visit->partner, 0, visit->count,
            MPI_DOUBLE, visit->coarray.window);
}

/* MPI_STATUSES_IGNORE. Volatile, since gcc takes MPICH's constant for an array of size 0. */
static MPI_Status *volatile no_statuses;

static void meet(const struct loops *visit)
{
    MPI_Request requests[2];
    MPI_Win_sync(visit->coarray.window);
    MPI_Win_flush_all(visit->coarray.window);
    MPI_Irecv(NULL, 0, MPI_BYTE, visit->partner, TAG, visit->coarray.comm, &requests[0]);
    MPI_Isend(NULL, 0, MPI_BYTE, visit->partner, TAG, visit->coarray.comm, &requests[1]);
    MPI_Waitall(2, requests, no_statuses);
    MPI_Win_sync(visit->coarray.window);
}

static void puts_and_meetings(const struct loops *visit, int64_t repetitions)
{
    for (int64_t i = 0; i < repetitions; i++) {
        if (visit->rank == 0)
            put(visit);
        meet(visit);
        if (visit->rank != 0)
            put(visit);
        meet(visit);
    }
}

static const struct bare_pingpong {
    const char *name; /* of pingpong's pattern */
    enum bc_coarray_sync sync;
    void (*repeat)(const struct loops *visit, int64_t repetitions);
} pingpongs[] = {{"MPI Send", BC_SYNC_NONE, messages}, {"put", BC_SYNC_IMAGES, puts_and_meetings}};

enum { ROWS = sizeof pingpongs / sizeof *pingpongs };

static double bare(void *context)
{
    const struct loops *const visit = context;
    MPI_Barrier(MPI_COMM_WORLD);
    visit->pingpong->repeat(visit, bare_leads_in(visit->repetitions));
    const double start = MPI_Wtime();
    visit->pingpong->repeat(visit, visit->repetitions);
    return (MPI_Wtime() - start) * 1e9 / (double)visit->repetitions;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const struct pingpong_pattern *pattern_of(const char *name)
{
    const struct pingpong_pattern *pattern = pingpong_patterns;
    while (strcmp(pattern->name, name) != 0)
        pattern++;
    return pattern;
}

static void measure_ours(void *memory)
{
    struct loops *const visit = memory;
    struct pingpong_game game = {
        .pattern = pattern_of(visit->pingpong->name),
        .sync = visit->pingpong->sync,
        .coarray = &visit->coarray,
        .origin = visit->coarray.values,
        .landing = visit->coarray.values,
        .shape = {1, visit->count, visit->count},
        .partner = visit->partner,
        .starts = visit->rank == 0,
    };
    bc_amount_create(&game.message, visit->count, MPI_DOUBLE);
    bc_images_create(&game.partners, visit->coarray.comm, &visit->partner, 1);
    struct bc_rounds *const rounds =
        bc_rounds_of(visit->run, &bare_ours, visit->seconds * BARE_OURS, &visit->row->ours);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        bc_round_release(round, MPI_COMM_WORLD);
        if (round->lead_in > 0)
            pingpong_play(&game, round->lead_in);
        bc_round_time(round, 0, pingpong_play(&game, round->repetitions));
    }
    bc_images_destroy(&game.partners);
    bc_amount_destroy(&game.message);
}

static void measure_bare(void *memory)
{
    struct loops *const visit = memory;
    visit->repetitions = bare_repetitions(visit->row->ours.repetitions);
    bare_visit_apart(visit->run, bare, visit, visit->repetitions, visit->seconds,
                     &visit->row->bare);
}

static void measure(const struct bc_run *run, struct bc_visit *visit)
{
    struct row *const row = visit->row;
    struct loops loops = {
        .run = run, .pingpong = &pingpongs[row->number], .row = row, .seconds = visit->seconds};
    const char *const count = getenv("BARE_COUNT");
    loops.count = count != NULL ? (int)strtol(count, NULL, 10) : 1;
    loops.rank = run->job.rank;
    loops.partner = 1 - loops.rank;
    bc_coarray_create(&loops.coarray, MPI_COMM_WORLD, loops.count);
    bare_in_turn(run, measure_ours, measure_bare, &loops);
    bc_coarray_destroy(&loops.coarray);
    visit->is_precise = bc_store_is_precise(run, &bare_ours, &row->ours);
}

static void write_row(struct bc_run *run, struct row *row)
{
    struct bc_repetition_result ours;
    bc_store_conclude(run, &row->ours, "repetition", &ours);
    bare_write_row(run, pingpongs[row->number].name, &ours.repetition, &ours.outcome, &row->bare);
}

static const struct bc_program pingpong_bare_program = {
    .name = "pingpong_bare", .summary = "Compares pingpong with bare loops.", BARE_PROGRAM};

int main(int argc, char **argv)
{
    char none;
    struct bc_run *const run = bc_start(&pingpong_bare_program, &none, argc, argv);
    bc_open_result(run, &bare_table, "");
    no_statuses = MPI_STATUSES_IGNORE;
    bare_list(run, ROWS);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(run, visit);
        else
            write_row(run, visit->row);
    return bc_finish(run);
}
