/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation of an operation at one size. */
#pragma once

#include "common/operations/instance.h"

/* Makes the periodic 3D grid of all ranks, in the order of MPI_COMM_WORLD. Collective. */
void op_create_grid(int ranks, int dims[BC_GRID_DIMENSIONS], MPI_Comm *comm);

struct op_choice {
    enum op_form form;
    int root;
    int64_t elements;
    const void *variant;          /* for the kind's functions; NULL: the only one */
    const struct op_space *space; /* NULL: host memory */
    enum op_type type;
    enum op_reduction reduction;
    bool in_place;
    bool any_root; /* all ranks have the buffers of the root, which op_set_root may change */
};

/* Allocates and fills the buffers, and makes the requests of the form persistent. The kind must
   have the form. Collective over MPI_COMM_WORLD. */
void op_create(struct op_instance *operation, const struct op_kind *kind, const struct bc_job *job,
               const struct op_choice *choice);

/* Collective. */
void op_destroy(struct op_instance *operation);
