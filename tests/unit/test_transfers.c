/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of one-sided transfers: errors come back, and stores are synchronised. */
#include "common/operations/pairs.h" /* first: its parameters have names of ranks.h */

#include "ranks.h"

#include "common/operations/buffers.h"

enum { ELEMENTS = 3 };

/* ---- calls of MPI ---------------------------------------------------------------------------- */

static int syncs;
static const double *watched; /* NULL: not yet */
static double seen;           /* the watched value at the last MPI_Win_sync */

int MPI_Win_sync(MPI_Win window)
{
    syncs++;
    if (watched != NULL)
        seen = *watched;
    return PMPI_Win_sync(window);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* All ranks have a part. */
static void make(struct op_instance *operation, const struct op_kind *kind)
{
    static const struct bc_job job = {0};
    op_create(operation, kind, &job, &(struct op_choice){.elements = ELEMENTS});
}

static const struct op_kind target = {
    .name = "target",
    .create = op_create_target_window,
    .destroy = op_destroy_window,
    .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
    .receive = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
};

static const struct op_kind source = {
    .name = "source",
    .create = op_create_source_window,
    .destroy = op_destroy_window,
    .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
    .receive = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
};

TEST(errors_come_back)
{
    const struct op_kind *const kinds[] = {&target, &source};
    bool returned[COUNT(kinds)];
    for (size_t i = 0; i < COUNT(kinds); i++) {
        MPI_Errhandler handler;
        struct op_instance operation;
        make(&operation, kinds[i]);
        MPI_Win_get_errhandler(op_window(&operation), &handler);
        returned[i] = handler == MPI_ERRORS_RETURN;
        MPI_Errhandler_free(&handler);
        op_destroy(&operation);
    }
    for (size_t i = 0; i < COUNT(kinds); i++)
        assert_true(returned[i]);
}

/* Other data is stored before MPI_Win_sync, and received data is looked at after it. */
TEST(stores_are_synchronised)
{
    struct op_instance operation;
    make(&operation, &target);
    watched = (const double *)operation.receive + (ELEMENTS - 1);
    syncs = 0;
    op_prepare_check(&operation);
    const int after_prepare = syncs;
    const double stored = *watched, synchronised = seen;
    (void)op_verify(&operation);
    const int after_verify = syncs;
    watched = NULL;
    op_destroy(&operation);
    assert_int_equal(after_prepare, 1);
    assert_near(synchronised, stored, 0.0);
    assert_int_equal(after_verify, 2);
}

const struct test_program test_program = {.mpi = true};
