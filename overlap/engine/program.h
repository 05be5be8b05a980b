/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The overlap suite. Each operation is a file in the folder above, which names the operation
 * (OVERLAP_OPERATION: a file in common/operations/) and has its main(). The method is in this
 * folder.
 */
#pragma once

#include "common/mpi/mpi_check.h"
#include "overlap/engine/phases.h"
#include "overlap/engine/result.h"
#include "overlap/engine/sizes.h"

/* Runs a program whose rows are sizes. Returns its exit status. */
int overlap_main(const struct bc_program *program, int argc, char **argv);

/* Defines the description of a program whose rows are sizes: its name without quotes, the MPI
   function as a text, and the operation. */
#define OVERLAP_OPERATION(its_name, function, its_kind)                                            \
    const struct bc_program overlap_##its_name##_program = {                                       \
        .name = "overlap_" #its_name,                                                              \
        .summary =                                                                                 \
            "Measures how much work fits under " function "\nwithout delaying it, and how much "   \
            "time that saves over the blocking call.\nNeeds at least 2 processes.",                \
        .placement = BC_PLACED,                                                                    \
        .has_buffers = true,                                                                       \
        .defaults = &(const struct overlap_parameters){OVERLAP_DEFAULTS, .name = #its_name,        \
                                                       .kind = &(its_kind)},                       \
        .defaults_bytes = sizeof(struct overlap_parameters),                                       \
        .state_bytes = sizeof(struct overlap_state),                                               \
        .fit = overlap_fit,                                                                        \
        .complete = overlap_parameters_complete,                                                   \
        OVERLAP_PROGRAM,                                                                           \
    }

/* Members of all program descriptions of the suite. */
#define OVERLAP_PROGRAM                                                                            \
    .options = {overlap_options, OVERLAP_OPTIONS}, .row_bytes = sizeof(struct overlap_row),        \
    .budget_s = BC_BUDGET_S, /* with the search for a size */                                      \
        .has_start = true, .first_share = 0.4
