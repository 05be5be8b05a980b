/*
 * The overlap suite: the largest amount of work that fits under a non-blocking operation without
 * making it take longer, and what is gained or lost against its blocking counterpart.
 *
 * Each operation is a file of its own beside this folder, which says what the operation is (a
 * collective with OVERLAP_COLLECTIVE) and has its main(). The method is in this folder.
 */
#pragma once

#include "common/mpi/mpi_check.h"
#include "common/sync_clock/start_window.h"
#include "overlap/engine/row.h"
#include "overlap_persistent.h" /* made by CMake: which functions make persistent collectives */

/* What the main() of a program whose rows are sizes does. Returns its exit status. */
int overlap_main(const struct bc_program *program, int argc, char **argv);

/* For programs with rows of their own, beside row.h. Collective, but for
   overlap_fit. */

/* See struct bc_program. */
bool overlap_fit(void *state, struct bc_run *run, struct bc_error *error);

/* Opens the devices on which --memory puts the buffers, before any operation is made. Ends the run
   with exit status 2 where that can't be. Collective. */
void overlap_open_memory(struct overlap_state *overlap, struct bc_run *run);

/* Writes notes, and sets overlap->run. Once the result is open. */
void overlap_open(struct overlap_state *overlap, struct bc_run *run);

/* Fills in the result, which begins as zeros, on rank 0, and frees what the row holds. */
void overlap_conclude(struct overlap_state *overlap, struct overlap_row *row,
                      struct overlap_result *result);

/* Says what the run found of progress, and whether the work's rate is not what it was. */
void overlap_close(const struct overlap_state *overlap);

/* Messages of this size and more say who makes progress: smaller ones are often complete when they
   are posted. */
#define OVERLAP_LARGE_BYTES 65536.0

/* Takes in a row whose result has sizes and times; writes what rows of the largest size say as a
   note, nothing where no row was large. Internal to program.c. Local. */
void overlap_progress_add(struct overlap_progress *progress, const struct overlap_row *row,
                          const struct overlap_result *result);
void overlap_progress_note(const struct overlap_state *overlap, struct bc_output *output);

/*
 * The table of a collective's program: its name, "iallreduce" without quotes; the non-blocking
 * function and its blocking counterpart; the arguments of both in parentheses, without the request;
 * then members of struct overlap_kind. See OVERLAP_CALL for what the arguments may use.
 */
#define OVERLAP_COLLECTIVE(its_name, nonblocking, counterpart, arguments, ...)                     \
    OVERLAP_CALL(start, #nonblocking #arguments,                                                   \
                 nonblocking(OVERLAP_UNPACK arguments, operation->requests))                       \
    OVERLAP_CALL(block, #counterpart #arguments, counterpart arguments)                            \
    OVERLAP_IF_PERSISTENT_##counterpart(OVERLAP_CALL(                                              \
        persist, #counterpart "_init" #arguments,                                                  \
        OVERLAP_INIT_##counterpart(OVERLAP_UNPACK arguments, MPI_INFO_NULL, operation->requests))) \
        OVERLAP_OPERATION(                                                                         \
            its_name, #nonblocking,                                                                \
            .functions = {.start = start,                                                          \
                          OVERLAP_IF_PERSISTENT_##counterpart(.persist = persist, ).blocking =     \
                              block},                                                              \
            .persistent_function = #counterpart "_init", __VA_ARGS__)

/* The same for layouts that need the MPI_Count variants: the same arguments make the calls of the
   functions with _c at the end. */
#define OVERLAP_COLLECTIVE_C(its_name, nonblocking, counterpart, arguments, ...)                   \
    OVERLAP_IF_LARGE(                                                                              \
        OVERLAP_CALL_AS(MPI_Count, start_large, #nonblocking "_c" #arguments,                      \
                        nonblocking##_c(OVERLAP_UNPACK arguments, operation->requests))            \
            OVERLAP_CALL_AS(MPI_Count, block_large, #counterpart "_c" #arguments,                  \
                            counterpart##_c arguments)                                             \
                OVERLAP_CALL_AS(MPI_Count, persist_large, #counterpart "_init_c" #arguments,       \
                                counterpart##_init_c(OVERLAP_UNPACK arguments, MPI_INFO_NULL,      \
                                                     operation->requests)))                        \
    OVERLAP_COLLECTIVE(its_name, nonblocking, counterpart, arguments,                              \
                       OVERLAP_IF_LARGE(.large = {.start = start_large,                            \
                                                  .persist = persist_large,                        \
                                                  .blocking = block_large}, ) __VA_ARGS__)

/* A function that makes a call, whose error message has `text`. The call may use `operation`, the
   parameter of overlap_call_fn; `counts`, which is operation->counts; and `count`, its member, of
   the type that the call takes. */
#define OVERLAP_CALL(name, text, call) OVERLAP_CALL_AS(int, name, text, call)
#define OVERLAP_CALL_AS(count_type, name, text, call)                                              \
    static void name(struct overlap_operation *operation)                                          \
    {                                                                                              \
        const struct overlap_counts *const counts = &operation->counts;                            \
        const count_type count = (count_type)counts->count;                                        \
        (void)count;                                                                               \
        BC_MPI_AS(call, text);                                                                     \
    }

#define OVERLAP_UNPACK(...) __VA_ARGS__

/* MPI-4 has an MPI_Count variant of each function. */
#if MPI_VERSION >= 4
#define OVERLAP_IF_LARGE(...) __VA_ARGS__
#else
#define OVERLAP_IF_LARGE(...)
#endif

/* The table of any other operation whose rows are sizes; FUNCTION is a text, and members of
   struct overlap_kind follow. */
#define OVERLAP_OPERATION(its_name, function, ...)                                                 \
    const struct bc_program overlap_##its_name##_program = {                                       \
        .name = "overlap_" #its_name,                                                              \
        .summary =                                                                                 \
            "Measures how much work fits under " function "\nwithout making it take longer, and "  \
            "what that gains against the blocking call.\nNeeds at least 2 processes.",             \
        .defaults =                                                                                \
            &(const struct overlap_parameters){                                                    \
                OVERLAP_DEFAULTS,                                                                  \
                .kind = &(const struct overlap_kind){.name = #its_name, __VA_ARGS__}},             \
        .defaults_bytes = sizeof(struct overlap_parameters),                                       \
        .state_bytes = sizeof(struct overlap_state),                                               \
        .fit = overlap_fit,                                                                        \
        .complete = overlap_parameters_complete,                                                   \
        OVERLAP_PROGRAM,                                                                           \
    }

/* What all programs of the suite have in common. */
#define OVERLAP_PROGRAM                                                                            \
    .options = {overlap_options, OVERLAP_OPTIONS}, .row_bytes = sizeof(struct overlap_row),        \
    .budget_s = 15.0, /* start-up and the search for a size included */                            \
        .starter = &bc_window_starter, .first_share = 0.4
