/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The generic bare loop beside a benchmark's own: each visit of a row takes samples as the
 * benchmark does, in half of the time, and samples of a loop of the same MPI calls. Both are
 * summarised in the same way. A row of the result has both times and their ratio.
 *
 * The calls are written from the text of the specifications. The timed ones use nothing of this
 * project except work between operations. Both loops use the same buffers, or equal ones if the
 * benchmark's are out of reach.
 *
 * Environment variables: BARE_ROW=N measures row N only, counted from 1. BARE_REPETITIONS=N sets
 * the repetitions of the bare loop; by default those of the benchmark, since long loops are
 * interrupted more often. BARE_FIRST=1 begins the first visit with the bare loop.
 */
#pragma once

#include "common/measure/rounds.h"
#include "common/run/program.h"

/* A row's state, the first member of a program's row. All zeros but `number` before the first
   visit. */
struct bare_row {
    int number;           /* from 0 on */
    int64_t repetitions;  /* in the benchmark's loop; 0: not known yet */
    struct bc_store ours; /* of bare_measure */
    struct bc_store bare;
};

/* The run in hand. */
extern struct bc_run *bare_run;

/* A benchmark and its bare calls. Functions that are NULL do nothing. All are collective over
   MPI_COMM_WORLD, which has 2 ranks. */
struct bare_benchmark {
    struct bc_program program;
    void *state;              /* the program's */
    const char *const *names; /* of the rows */
    int rows;
    bool leads_in;      /* before several repetitions comes an untimed one: ranks start apart */
    bool has_reference; /* the time of a loop of quantity 1 is subtracted */

    void (*open)(void); /* after the start of the run */
    void (*close)(void);
    void (*begin_visit)(const struct bare_row *row); /* makes buffers */
    void (*end_visit)(void);
    void (*begin_bare)(const struct bare_row *row);
    void (*end_bare)(void);

    /* Takes the benchmark's own samples and sets row->repetitions; true on rank 0 if the row is
       precise. */
    bool (*measure)(struct bare_row *row, double seconds);
    /* Summarises them; rank 0's result counts. */
    void (*conclude)(struct bare_row *row, struct bc_summary *ours, struct bc_outcome *outcome);

    void (*prepare)(void); /* before the barrier that begins a bare loop */
    void (*repeat)(int quantity, int64_t repetitions); /* the bare calls */
    double (*time_once)(void);                         /* instead of a loop: returns ns */
};

/* Takes samples of a timed kernel, batches of repetitions in a round, in row->ours. Returns as
   struct bare_benchmark's measure, for which it serves. */
typedef struct bc_span bare_kernel_fn(int64_t repetitions);
bool bare_measure(struct bare_row *row, double seconds, bare_kernel_fn *kernel);

/* Summarises the samples of bare_measure. */
void bare_conclude(struct bare_row *row, struct bc_summary *ours, struct bc_outcome *outcome);

/* Defined once for each benchmark. main() is in bare.c. */
extern const struct bare_benchmark bare_benchmark;

/* The members of struct bc_program that all of these programs share. */
#define BARE_PROGRAM .budget_s = 20.0, .fit = bare_fit, .placement = BC_ON_PAGES

/* Needs two ranks. */
bool bare_fit(void *state, struct bc_run *run, struct bc_error *error);
