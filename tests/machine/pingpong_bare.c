/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pingpong, there and back: MPI_Send and MPI_Recv; or MPI_Put, and after it, on both ranks,
 * completion and an exchange of empty messages. Environment variable BARE_COUNT: doubles in a
 * message; 1 by default.
 */
#include "pingpong/pingpong.h"
#include "tests/machine/bare.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 2 };

static const char *const names[] = {"MPI Send", "put"}; /* of pingpong's patterns */
enum { ROWS = sizeof names / sizeof *names };

static struct bc_coarray coarray; /* of both loops, since where it lies makes up to 3 % */
static struct pingpong_game game;
static int rank, partner, count;

/* ---- the benchmark --------------------------------------------------------------------------- */

static void open(void)
{
    const char *const text = getenv("BARE_COUNT");
    rank = bare_run->job.rank;
    partner = 1 - rank;
    count = text != NULL ? (int)strtol(text, NULL, 10) : 1;
}

static const struct pingpong_pattern *pattern_of(const char *name)
{
    const struct pingpong_pattern *pattern = pingpong_patterns;
    while (strcmp(pattern->name, name) != 0)
        pattern++;
    return pattern;
}

static void begin_visit(const struct bare_row *row)
{
    const struct pingpong_pattern *const pattern = pattern_of(names[row->number]);
    bc_coarray_create(&coarray, MPI_COMM_WORLD, count);
    game = (struct pingpong_game){
        .pattern = pattern,
        .sync = pattern->move != NULL ? BC_SYNC_IMAGES : BC_SYNC_NONE,
        .coarray = &coarray,
        .origin = coarray.values,
        .landing = coarray.values,
        .shape = {1, count, count},
        .partner = partner,
        .starts = rank == 0,
    };
    bc_amount_create(&game.message, count, MPI_DOUBLE);
    bc_images_create(&game.partners, coarray.comm, &partner, 1);
}

static void end_visit(void)
{
    bc_images_destroy(&game.partners);
    bc_amount_destroy(&game.message);
    bc_coarray_destroy(&coarray);
}

static struct bc_span play(int64_t repetitions) { return pingpong_play(&game, repetitions); }

static bool measure(struct bare_row *row, double seconds)
{
    return bare_measure(row, seconds, play);
}

/* ---- bare calls ------------------------------------------------------------------------------ */

static void send(void)
{
    MPI_Send(coarray.values, count, MPI_DOUBLE, partner, TAG, MPI_COMM_WORLD);
}

static void receive(void)
{
    MPI_Recv(coarray.values, count, MPI_DOUBLE, partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void put(void)
{
    MPI_Put(coarray.values, count, MPI_DOUBLE, partner, 0, count, MPI_DOUBLE, coarray.window);
}

static void meet(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
    MPI_Win_sync(coarray.window);
    MPI_Win_flush_all(coarray.window);
    MPI_Irecv(NULL, 0, MPI_BYTE, partner, TAG, coarray.comm, &requests[0]);
    MPI_Isend(NULL, 0, MPI_BYTE, partner, TAG, coarray.comm, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Win_sync(coarray.window);
}

static void exchange_messages(int64_t repetitions)
{
    for (int64_t i = 0; i < repetitions; i++)
        if (rank == 0) {
            send();
            receive();
        } else {
            receive();
            send();
        }
}

static void put_and_meet(int64_t repetitions)
{
    for (int64_t i = 0; i < repetitions; i++) {
        if (rank == 0)
            put();
        meet();
        if (rank != 0)
            put();
        meet();
    }
}

static void repeat(int quantity, int64_t repetitions)
{
    (void)quantity;
    if (game.pattern->move != NULL)
        put_and_meet(repetitions);
    else
        exchange_messages(repetitions);
}

const struct bare_benchmark bare_benchmark = {
    .program = {.name = "pingpong_bare",
                .summary = "Compares pingpong with bare loops.",
                .row_bytes = sizeof(struct bare_row),
                BARE_PROGRAM},
    .names = names,
    .rows = ROWS,
    .leads_in = true,
    .open = open,
    .begin_visit = begin_visit,
    .end_visit = end_visit,
    .measure = measure,
    .conclude = bare_conclude,
    .repeat = repeat,
};
