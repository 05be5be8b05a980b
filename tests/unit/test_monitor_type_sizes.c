/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of predefined datatypes, and of more derived ones than the table has buckets, whose handles
   are used again. Run on 1 rank. */
#include "ranks.h"

#include "monitor/lib/count/type_sizes.h"

enum { DERIVED = 4 << TYPE_SIZES_BITS };

static void assert_predefined(void)
{
    assert_int_equal(type_size(MPI_BYTE), 1);
    assert_int_equal(type_size(MPI_INT), sizeof(int));
    assert_int_equal(type_size(MPI_DOUBLE), sizeof(double));
    assert_int_equal(type_size(MPI_C_DOUBLE_COMPLEX), 2 * sizeof(double));
    assert_int_equal(type_size(MPI_UNSIGNED_CHAR), 1); /* not in the table */
}

static void assert_derived(int first_size)
{
    static MPI_Datatype derived[DERIVED];
    for (int i = 0; i < DERIVED; i++)
        MPI_Type_contiguous(first_size + i, MPI_BYTE, &derived[i]);
    for (int i = 0; i < 2 * DERIVED; i++)
        assert_int_equal(type_size(derived[i % DERIVED]), first_size + i % DERIVED);
    assert_predefined();
    for (int i = 0; i < DERIVED; i++)
        MPI_Type_free(&derived[i]);
}

TEST(sizes)
{
    assert_predefined(); /* the table is empty */
    type_sizes_start();
    assert_predefined();
    assert_predefined(); /* kept */
    assert_derived(1000);
    assert_derived(20000);
}

const struct test_program test_program = {.mpi = true};
