/*
 * The overlap suite: the largest amount of work that fits under a non-blocking collective without
 * making it take longer.
 *
 * Each collective is a file of its own beside this folder, which says what the collective is and
 * makes it a program with OVERLAP_COLLECTIVE. The method is in this folder.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_OVERLAP_H
#define COMMCOST_OVERLAP_ENGINE_OVERLAP_H

#include "common/mpi/mpi_check.h"
#include "common/run/benchmark.h"
#include "overlap/engine/measure.h"
#include "overlap/engine/shapes.h"

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
void overlap_visit(void *state, const void *row_key, double seconds, void *memory);
bool overlap_is_precise(const void *state, const void *key, const void *row);
void overlap_conclude(void *state, const void *row_key, void *memory, void *filled);
void overlap_close(void *state);

/* The program of a collective. ITS_NAME is "iallreduce" without quotes; FUNCTION and ARGUMENTS, in
   parentheses, are the call that starts the operation; then come members of struct
   overlap_collective. The arguments may use `operation` and `request`, the parameters of
   overlap_post_fn, and `counts`, which is operation->counts. */
#define OVERLAP_COLLECTIVE(its_name, function, arguments, ...)                                     \
    OVERLAP_POST(post, overlap_counts, counts, function arguments, #function #arguments)           \
    OVERLAP_BENCHMARK(its_name, #function, .post = post, __VA_ARGS__)

/* The same for layouts that need MPI-4's large counts: the arguments make the calls of FUNCTION and
   of FUNCTION_c, for which `counts` is operation->large_counts. */
#define OVERLAP_COLLECTIVE_C(its_name, function, arguments, ...)                                   \
    OVERLAP_POST(post, overlap_counts, counts, function arguments, #function #arguments)           \
    OVERLAP_IF_LARGE(OVERLAP_POST(post_large, overlap_large_counts, large_counts,                  \
                                  function##_c arguments, #function "_c" #arguments))              \
    OVERLAP_BENCHMARK(its_name, #function, .post = post,                                           \
                      OVERLAP_IF_LARGE(.post_large = post_large, ) __VA_ARGS__)

#define OVERLAP_POST(post, counts_type, its_counts, call, text)                                    \
    static void post(const struct overlap_operation *operation, MPI_Request *request)              \
    {                                                                                              \
        const struct counts_type *const counts = &operation->its_counts;                           \
        (void)counts;                                                                              \
        BC_MPI_AS(call, text);                                                                     \
    }

/* MPI-4 has a function with large counts beside each with int counts. */
#if MPI_VERSION >= 4
#define OVERLAP_IF_LARGE(...) __VA_ARGS__
#else
#define OVERLAP_IF_LARGE(...)
#endif

#define OVERLAP_BENCHMARK(its_name, function, ...)                                                 \
    const struct bc_benchmark overlap_##its_name = {                                               \
        .name = "overlap_" #its_name,                                                              \
        .summary = "Measures how much work fits under " function " without making it take "        \
                   "longer.\nNeeds at least 2 processes.",                                         \
        .options = {overlap_options, OVERLAP_OPTIONS,                                              \
                    &(const struct overlap_parameters){                                            \
                        OVERLAP_DEFAULTS,                                                          \
                        .collective =                                                              \
                            &(const struct overlap_collective){.name = #its_name, __VA_ARGS__}},   \
                    sizeof(struct overlap_parameters)},                                            \
        .budget_s = 15.0, /* start-up and the search for a size included */                        \
        .may_start_together = true,                                                                \
        .bytes = {sizeof(struct overlap_state), sizeof(struct overlap_key),                        \
                  sizeof(struct overlap_result), sizeof(struct overlap_row)},                      \
        .first_share = 0.4,                                                                        \
        .fit = overlap_fit,                                                                        \
        .choose_table = overlap_choose_table,                                                      \
        .open = overlap_open,                                                                      \
        .rows = overlap_list_rows,                                                                 \
        .visit = overlap_visit,                                                                    \
        .is_precise = overlap_is_precise,                                                          \
        .conclude = overlap_conclude,                                                              \
        .close = overlap_close,                                                                    \
    }

#endif
