/*
 * The overlap suite: the largest amount of work that fits under a non-blocking operation without
 * making it take longer, and what is gained or lost against its blocking counterpart.
 *
 * Each operation is a file of its own beside this folder, which names the operation
 * (OVERLAP_COLLECTIVE: a file in common/operations/) or says what it is (OVERLAP_OPERATION), and
 * has its main(). The method is in this folder.
 */
#pragma once

#include "common/mpi/mpi_check.h"
#include "common/sync_clock/start_window.h"
#include "overlap/engine/row.h"

/* What the main() of a program whose rows are sizes does. Returns its exit status. */
int overlap_main(const struct bc_program *program, int argc, char **argv);

/* For programs with rows of their own, beside row.h. Collective, but for
   overlap_fit. */

/* See struct bc_program. */
bool overlap_fit(void *state, struct bc_run *run, struct bc_error *error);

/* Opens the devices on which --memory puts the buffers and --work the work, before any operation is
   made. Ends the run with exit status 2 where that can't be. Collective. */
void overlap_open_memory(struct overlap_state *overlap, struct bc_run *run);

/* This rank's device, or NULL. Local. */
struct bc_device *overlap_device(const struct overlap_state *overlap);

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

/* The tables of programs whose rows are sizes: the name, "iallreduce" without quotes; a text that
   names the MPI function; and what is measured, either a table, or members of struct op_kind. */
#define OVERLAP_COLLECTIVE(its_name, function, its_kind)                                           \
    const struct bc_program overlap_##its_name##_program = {                                       \
        .name = "overlap_" #its_name,                                                              \
        .summary =                                                                                 \
            "Measures how much work fits under " function "\nwithout making it take longer, and "  \
            "what that gains against the blocking call.\nNeeds at least 2 processes.",             \
        .placement = BC_ON_PAGES,                                                                  \
        .defaults = &(const struct overlap_parameters){OVERLAP_DEFAULTS, .name = #its_name,        \
                                                       .kind = &(its_kind)},                       \
        .defaults_bytes = sizeof(struct overlap_parameters),                                       \
        .state_bytes = sizeof(struct overlap_state),                                               \
        .fit = overlap_fit,                                                                        \
        .complete = overlap_parameters_complete,                                                   \
        OVERLAP_PROGRAM,                                                                           \
    }
#define OVERLAP_OPERATION(its_name, function, ...)                                                 \
    static const struct op_kind its_name##_kind = {.name = #its_name, __VA_ARGS__};                \
    OVERLAP_COLLECTIVE(its_name, function, its_name##_kind)

/* What all programs of the suite have in common. */
#define OVERLAP_PROGRAM                                                                            \
    .options = {overlap_options, OVERLAP_OPTIONS}, .row_bytes = sizeof(struct overlap_row),        \
    .budget_s = BC_BUDGET_S, /* start-up and the search for a size included */                     \
        .has_start = true, .first_share = 0.4
