/*
 * The overlap suite: the largest amount of work that fits under a non-blocking operation without
 * making it take longer, and what is gained or lost against its blocking sister.
 *
 * Each operation is a file of its own beside this folder, which says what the operation is and
 * makes it a program, a collective with OVERLAP_COLLECTIVE. The method is in this folder.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_OVERLAP_H
#define COMMCOST_OVERLAP_ENGINE_OVERLAP_H

#include "common/mpi/mpi_check.h"
#include "common/run/benchmark.h"
#include "overlap/engine/measure.h"
#include "overlap_persistent.h" /* made by CMake: which functions make persistent collectives */
#include "overlap/engine/shapes.h"

/* Of a row. */
struct overlap_key {
    int64_t elements;
    int64_t test_calls;  /* or OVERLAP_AUTO */
    const void *variant; /* of a kind that has several; stays as long as the run */
    enum overlap_form form;
    enum bc_status status; /* BC_MAX_SIZE: not even this size takes the cutoff time; else BC_OK */
};

/* See struct bc_benchmark. */
bool overlap_fit(void *state, struct bc_run *run, struct bc_error *error);
bool overlap_probe(void *state, struct bc_run *run, struct bc_error *error);
struct bc_table overlap_choose_table(const void *state);
void overlap_open(void *state, struct bc_run *run);
void overlap_list_rows(void *state, struct bc_rows *rows);
void overlap_visit(void *state, const void *row_key, double seconds, void *memory);
bool overlap_is_precise(const void *state, const void *key, const void *row);
void overlap_conclude(void *state, const void *row_key, void *memory, void *filled);
void overlap_close(void *state);
int overlap_shares(const void *state);

/* For programs with rows of their own. */

/* Checks that the work can be cut into as many parts as --test-calls or overlap->parts_option asks
   for: under the quickest of `count` operations, or, in the time-driven model, under one that takes
   the cutoff time. Where it can't: if that is the user's choice (`chosen`, on rank 0) as `probe`
   does; else a note will say so. Collective. */
bool overlap_probe_choices(struct overlap_state *overlap, struct bc_run *run,
                           const struct overlap_choice *choices, size_t count, bool chosen,
                           struct bc_error *error);

/* Lists the rows of all sizes, of each of `count` variants, which are an array of elements of
   `bytes` bytes. The time-driven model looks for the size of the first variant. Collective. */
void overlap_list_rows_of(struct overlap_state *overlap, size_t count, const void *variants,
                          size_t bytes, struct bc_rows *rows);

/*
 * The program of a collective: its name, "iallreduce" without quotes; the non-blocking function and
 * its blocking sister; the arguments of both in parentheses, without the request; then members of
 * struct overlap_kind. The arguments may use `operation`, the parameter of overlap_call_fn, and
 * `counts`, which is operation->counts.
 */
#define OVERLAP_COLLECTIVE(its_name, nonblocking, sister, arguments, ...)                          \
    OVERLAP_CALL(start, counts, #nonblocking #arguments,                                           \
                 nonblocking(OVERLAP_UNPACK arguments, operation->requests))                       \
    OVERLAP_CALL(block, counts, #sister #arguments, sister arguments)                              \
    OVERLAP_IF_PERSISTENT_##sister(OVERLAP_CALL(                                                   \
        persist, counts, #sister "_init" #arguments,                                               \
        OVERLAP_INIT_##sister(OVERLAP_UNPACK arguments, MPI_INFO_NULL, operation->requests)))      \
        OVERLAP_BENCHMARK(                                                                         \
            its_name, #nonblocking,                                                                \
            .functions = {.start = start,                                                          \
                          OVERLAP_IF_PERSISTENT_##sister(.persist = persist, ).blocking = block},  \
            .persistent_function = #sister "_init", __VA_ARGS__)

/* The same for layouts that need MPI-4's large counts: the arguments make the calls of the
   functions and of those with _c at the end, for which `counts` is operation->large_counts. */
#define OVERLAP_COLLECTIVE_C(its_name, nonblocking, sister, arguments, ...)                        \
    OVERLAP_IF_LARGE(                                                                              \
        OVERLAP_CALL(start_large, large_counts, #nonblocking "_c" #arguments,                      \
                     nonblocking##_c(OVERLAP_UNPACK arguments, operation->requests))               \
            OVERLAP_CALL(block_large, large_counts, #sister "_c" #arguments, sister##_c arguments) \
                OVERLAP_CALL(persist_large, large_counts, #sister "_init_c" #arguments,            \
                             sister##_init_c(OVERLAP_UNPACK arguments, MPI_INFO_NULL,              \
                                             operation->requests)))                                \
    OVERLAP_COLLECTIVE(its_name, nonblocking, sister, arguments,                                   \
                       OVERLAP_IF_LARGE(.large = {.start = start_large,                            \
                                                  .persist = persist_large,                        \
                                                  .blocking = block_large}, ) __VA_ARGS__)

/* A function that makes a call, whose error message has `text`; `its_counts` is a member of
   struct overlap_operation. */
#define OVERLAP_CALL(name, its_counts, text, call)                                                 \
    static void name(struct overlap_operation *operation)                                          \
    {                                                                                              \
        const __typeof__(operation->its_counts) *const counts = &operation->its_counts;            \
        (void)counts;                                                                              \
        BC_MPI_AS(call, text);                                                                     \
    }

#define OVERLAP_UNPACK(...) __VA_ARGS__

/* MPI-4 has a function with large counts beside each with int counts. */
#if MPI_VERSION >= 4
#define OVERLAP_IF_LARGE(...) __VA_ARGS__
#else
#define OVERLAP_IF_LARGE(...)
#endif

/* The program of any other operation whose rows are sizes; FUNCTION is a text, and members of
   struct overlap_kind follow. */
#define OVERLAP_BENCHMARK(its_name, function, ...)                                                 \
    const struct bc_benchmark overlap_##its_name = {                                               \
        .name = "overlap_" #its_name,                                                              \
        .summary =                                                                                 \
            "Measures how much work fits under " function "\nwithout making it take longer, and "  \
            "what that gains against the blocking call.\nNeeds at least 2 processes.",             \
        .options = {overlap_options, OVERLAP_OPTIONS,                                              \
                    &(const struct overlap_parameters){                                            \
                        OVERLAP_DEFAULTS,                                                          \
                        .kind = &(const struct overlap_kind){.name = #its_name, __VA_ARGS__}},     \
                    sizeof(struct overlap_parameters)},                                            \
        OVERLAP_PROGRAM,                                                                           \
        .bytes = {sizeof(struct overlap_state), sizeof(struct overlap_key),                        \
                  sizeof(struct overlap_result), sizeof(struct overlap_row)},                      \
        .complete = overlap_parameters_complete,                                                   \
        .fit = overlap_fit,                                                                        \
        .probe = overlap_probe,                                                                    \
        .choose_table = overlap_choose_table,                                                      \
        .rows = overlap_list_rows,                                                                 \
        .conclude = overlap_conclude,                                                              \
    }

/* What programs of the suite have in common: all of them, and those whose rows are sizes. */
#define OVERLAP_PROGRAM_BASE                                                                       \
    .budget_s = 15.0, /* start-up and the search for a size included */                            \
        .may_start_together = true, .first_share = 0.4, .is_precise = overlap_is_precise,          \
    .close = overlap_close, .shares = overlap_shares
#define OVERLAP_PROGRAM OVERLAP_PROGRAM_BASE, .open = overlap_open, .visit = overlap_visit

#endif
