/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flush of the caches.
 */
#include "common/job/job.h"
#include "helpers.h"

#include "common/memory/cache.h"

#include <stdbool.h>
#include <unistd.h>

TEST(flush_writes_the_recurrence)
{
    /* Whole doubles, of which there may be none. */
    static const struct {
        size_t bytes, count;
    } cases[] = {{0, 0}, {7, 0}, {8, 1}, {1000003, 125000}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct bc_cache_flush flush;
        assert_true(bc_cache_flush_create(&flush, cases[c].bytes));
        assert_int_equal(flush.count, cases[c].count);
        for (size_t i = 1; i < flush.count; i++) /* a new buffer is touched */
            assert_true(flush.values[i] == flush.values[i - 1] + 1.0);
        /* Each run writes again, from the first value on. */
        for (int run = 0; run < 2; run++) {
            for (size_t i = 0; i < flush.count; i++)
                flush.values[i] = i == 0 ? 3.0 : -5.0 * run;
            bc_cache_flush_run(&flush);
            for (size_t i = 0; i < flush.count; i++)
                assert_true(flush.values[i] == 3.0 + (double)i);
        }
        bc_cache_flush_destroy(&flush);
        assert_null(flush.values);
    }
}

TEST(memory_that_there_is_not)
{
    struct bc_cache_flush flush;
    assert_false(bc_cache_flush_create(&flush, SIZE_MAX / 2));
    bc_cache_flush_run(&flush); /* does nothing */
    bc_cache_flush_destroy(&flush);
}

TEST(sizes_of_this_machine)
{
    const size_t line = bc_cache_line_bytes(), bytes = bc_llc_bytes();
    assert_true(line >= sizeof(double) && line <= (size_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(line & (line - 1), 0);
    if (bytes == 0)
        skip(); /* not known on this machine */
    assert_in_range(bytes, 16 << 10, UINT64_C(16) << 30);
    assert_int_equal(bc_llc_flush_bytes(), bytes + bytes / 2);
}
