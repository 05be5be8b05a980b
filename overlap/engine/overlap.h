/*
 * The overlap suite: the largest amount of work that fits under a non-blocking collective without
 * making it take longer.
 *
 * Each collective is a file of its own beside this folder, which says what the collective is and
 * makes it a program with OVERLAP_BENCHMARK. The method is in this folder:
 *
 *   operation.h    what a collective is; its buffers for one size, and whether the data is right
 *   shapes.h       how much a rank sends and receives, and which values
 *   values.h       the values
 *   parameters.h   options and environment variables
 *   kernel.h       the timed regions
 *   search.h       which amount of work to try next, and when it is enough
 *   measure.h      one row: the four phases
 *   overlap.c      usage, and the rows of both models, data-driven and time-driven
 */
#ifndef COMMCOST_OVERLAP_ENGINE_OVERLAP_H
#define COMMCOST_OVERLAP_ENGINE_OVERLAP_H

#include "common/run/benchmark.h"
#include "overlap/engine/measure.h"
#include "overlap/engine/shapes.h"

/* A run with defaults ends within this, start-up and the search for a size included. */
#define OVERLAP_RUN_BUDGET_S 15.0

/* Of a row. */
struct overlap_key {
    int64_t elements;
    enum bc_status status; /* BC_MAX_SIZE: not even this size takes the cutoff time; else BC_OK */
};

/* See struct bc_benchmark. */
bool overlap_fit(void *state, struct bc_run *run, struct bc_error *error);
struct bc_table overlap_choose_table(const void *state);
void overlap_open(void *state, struct bc_run *run);
void overlap_list_rows(void *state, struct bc_rows *rows);
void overlap_measure(void *state, const void *row, double seconds, void *filled);
void overlap_close(void *state);

/* The struct bc_benchmark of a struct overlap_collective, whose constant is `its_name` and which
   calls `function`: "MPI_Iallreduce". */
#define OVERLAP_BENCHMARK(its_name, function)                                                      \
    {                                                                                              \
        .name = "overlap_" #its_name,                                                              \
        .summary = "Measures how much work fits under " function " without making it take "        \
                   "longer.\nNeeds at least 2 processes.",                                         \
        .options = overlap_options, .option_count = OVERLAP_OPTIONS,                               \
        .budget_s = OVERLAP_RUN_BUDGET_S, .may_start_together = true,                              \
        .defaults = &(const struct overlap_parameters){OVERLAP_DEFAULTS, .collective = &its_name}, \
        .defaults_bytes = sizeof(struct overlap_parameters),                                       \
        .state_bytes = sizeof(struct overlap_state), .key_bytes = sizeof(struct overlap_key),      \
        .result_bytes = sizeof(struct overlap_result), .fit = overlap_fit,                         \
        .choose_table = overlap_choose_table, .open = overlap_open, .rows = overlap_list_rows,     \
        .measure = overlap_measure, .close = overlap_close,                                        \
    }

#endif
