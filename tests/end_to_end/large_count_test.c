/*
 * Counts beyond ints: datatypes of many elements and of boxes, where 1000 are the most that an int
 * counts. One rank; MPI packs what a datatype has, which tells what is in it and in which order.
 */
#include "tests/unit/helpers.h"

#include "common/mpi/counts.h"
#include "common/mpi/large_count.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(BC_COUNT_MAX == 1000, "the test is built so");

#define BYTES 64000000
#define VALUE ((MPI_Aint)sizeof(double))

static double *values, *packed;

/* Packs `count` of the type; returns the number of values in it. */
static int64_t pack(int count, MPI_Datatype type)
{
    int position = 0;
    memset(packed, 0, BYTES);
    assert_int_equal(MPI_Pack(values, count, type, packed, BYTES, &position, MPI_COMM_SELF),
                     MPI_SUCCESS);
    return position / VALUE;
}

static const int64_t sizes[] = {0,    1,    2,     999,    1000,    1001,   1999,
                                2000, 2001, 12345, 999999, 1000000, 1000001};

static void amounts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t n = sizes[i];
        struct bc_amount amount;
        bc_amount_create(&amount, n, MPI_DOUBLE);
        if (n <= 1000) {
            assert_int_equal(amount.count, n);
            assert_true(amount.type == MPI_DOUBLE);
            assert_false(amount.made);
        } else {
            assert_int_equal(amount.count, 1);
            assert_true(amount.made);
        }
        assert_int_equal(pack(amount.count, amount.type), n);
        assert_memory_equal(packed, values, (size_t)n * sizeof(double));
        bc_amount_destroy(&amount);
        bc_amount_destroy(&amount); /* once more is harmless */
    }
}

static void amounts_elsewhere(void **state)
{
    (void)state;
    static const MPI_Aint places[] = {0, 1, 77, 123456};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const int64_t n = sizes[i];
            struct bc_amount amount;
            bc_amount_create_at(&amount, n, MPI_DOUBLE, places[p] * VALUE);
            assert_int_equal(amount.count, n == 0 ? 0 : 1);
            assert_int_equal(pack(amount.count, amount.type), n);
            assert_memory_equal(packed, values + places[p], (size_t)n * sizeof(double));
            bc_amount_destroy(&amount);
        }
}

static void repeated_with_gaps(void **state)
{
    (void)state;
    for (size_t i = 1; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t n = sizes[i];
        MPI_Datatype type = bc_type_repeat(n, 3 * VALUE, MPI_DOUBLE);
        MPI_Type_commit(&type);
        assert_int_equal(pack(1, type), n);
        for (int64_t k = 0; k < n; k++)
            assert_true(packed[k] == values[3 * k]);
        MPI_Type_free(&type);
    }
}

/* More than any memory holds is described all the same. */
static void sizes_beyond_ints(void **state)
{
    (void)state;
    const int64_t n = (INT64_C(1) << 40) + 12345;
    struct bc_amount amount;
    MPI_Count bytes, lower_bound, extent;
    bc_amount_create_at(&amount, n, MPI_DOUBLE, (MPI_Aint)1 << 41);
    BC_TYPE_SIZE(amount.type, &bytes);
    BC_TYPE_GET_EXTENT(amount.type, &lower_bound, &extent);
    assert_int_equal(bytes, 8 * n);
    assert_int_equal(lower_bound, INT64_C(1) << 41);
    assert_int_equal(extent, 8 * n);
    bc_amount_destroy(&amount);
}

static void assert_box(const int64_t array[3], const int64_t extent[3], const int64_t start[3])
{
    MPI_Datatype type = bc_type_box(3, array, extent, start, MPI_DOUBLE);
    assert_int_equal(pack(1, type), extent[0] * extent[1] * extent[2]);
    const double *value = packed;
    for (int64_t i = 0; i < extent[0]; i++)
        for (int64_t j = 0; j < extent[1]; j++)
            for (int64_t k = 0; k < extent[2]; k++) {
                const int64_t place =
                    ((start[0] + i) * array[1] + start[1] + j) * array[2] + start[2] + k;
                assert_true(*value++ == values[place]);
            }
    MPI_Type_free(&type);
}

static void boxes(void **state)
{
    (void)state;
    static const int64_t cases[][3][3] = {
        {{7, 6, 5}, {1, 4, 3}, {5, 1, 1}},        {{1000, 12, 5}, {998, 1, 3}, {1, 0, 1}},
        {{1001, 12, 5}, {999, 1, 3}, {1, 10, 1}}, {{1002, 12, 5}, {1001, 10, 1}, {1, 1, 4}},
        {{3, 1234, 10}, {1, 1232, 8}, {2, 1, 1}}, {{3, 3, 4322}, {1, 1, 4320}, {1, 2, 1}},
        {{3, 3, 4322}, {3, 2, 1}, {0, 1, 4321}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_box(cases[i][0], cases[i][1], cases[i][2]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts),
        cmocka_unit_test(amounts_elsewhere),
        cmocka_unit_test(repeated_with_gaps),
        cmocka_unit_test(sizes_beyond_ints),
        cmocka_unit_test(boxes),
    };
    MPI_Init(&argc, &argv);
    values = malloc(BYTES);
    packed = malloc(BYTES);
    if (values == NULL || packed == NULL)
        return 1;
    for (int64_t i = 0; i < BYTES / VALUE; i++)
        values[i] = (double)i;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(values);
    free(packed);
    MPI_Finalize();
    return failed;
}
