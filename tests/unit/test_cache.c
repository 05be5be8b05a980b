/*
 * The flush of the caches.
 */
#include "helpers.h"

#include "common/machine/cache.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

TEST(flush_writes_the_recurrence)
{
    struct bc_cache_flush flush;
    assert_true(bc_cache_flush_create(&flush, (size_t)16 << 20));
    assert_int_equal(flush.count, 2097152); /* 16 MiB */
    /* Each run writes anew, from the first value on. */
    for (int run = 0; run < 2; run++) {
        for (size_t i = 0; i < flush.count; i++)
            flush.values[i] = -5.0 * run;
        flush.values[0] = 3.0;
        bc_cache_flush_run(&flush);
        for (size_t i = 0; i < flush.count; i++)
            assert_true(flush.values[i] == 3.0 + (double)i);
    }
    bc_cache_flush_destroy(&flush);
    assert_null(flush.values);
    assert_int_equal(flush.count, 0);
}

TEST(new_buffer_is_touched)
{
    struct bc_cache_flush flush;
    assert_true(bc_cache_flush_create(&flush, 1000003));
    assert_int_equal(flush.count, 125000); /* whole doubles */
    for (size_t i = 1; i < flush.count; i++)
        assert_true(flush.values[i] == flush.values[i - 1] + 1.0);
    bc_cache_flush_destroy(&flush);
}

TEST(nothing_to_flush)
{
    for (size_t bytes = 0; bytes < sizeof(double); bytes++) {
        struct bc_cache_flush flush;
        assert_true(bc_cache_flush_create(&flush, bytes));
        assert_int_equal(flush.count, 0);
        bc_cache_flush_run(&flush);
        bc_cache_flush_destroy(&flush);
    }
}

TEST(one_value)
{
    struct bc_cache_flush flush;
    assert_true(bc_cache_flush_create(&flush, sizeof(double)));
    assert_int_equal(flush.count, 1);
    bc_cache_flush_run(&flush);
    bc_cache_flush_destroy(&flush);
}

TEST(memory_that_there_is_not)
{
    struct bc_cache_flush flush;
    assert_false(bc_cache_flush_create(&flush, SIZE_MAX / 2));
    bc_cache_flush_run(&flush); /* does nothing */
    bc_cache_flush_destroy(&flush);
}

TEST(last_level_is_a_size)
{
    const size_t bytes = bc_cache_llc_bytes();
    if (bytes == 0)
        skip(); /* a machine that doesn't say */
    assert_in_range(bytes, 16 << 10, UINT64_C(16) << 30);
    assert_int_equal(bytes, bc_cache_llc_bytes());
    assert_int_equal(bc_cache_llc_flush_bytes(), bytes + bytes / 2);
}

TEST(lines_are_whole_values)
{
    const size_t bytes = bc_cache_line_bytes();
    assert_true(bytes >= sizeof(double) && bytes <= (size_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(bytes & (bytes - 1), 0);
}
