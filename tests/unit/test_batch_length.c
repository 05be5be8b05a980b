/*
 * Batches that are long against the clock, of repetitions whose times are known.
 */
#include "helpers.h"

#include "common/stats/batch.h"

TEST(slow_clocks_make_long_batches)
{
    const struct bc_clock_cost quick = {.read_ns = 20.0}, slow = {.read_ns = 1000.0};
    assert_near(bc_batch_ns(&quick, 20000.0), 20000.0, 0.0);
    assert_near(bc_batch_ns(&slow, 20000.0), 100000.0, 0.0);
}

TEST(repetitions_fill_a_batch)
{
    assert_int_equal(bc_batch_repetitions(20000.0, 1000.0, 10000), 20);
    assert_int_equal(bc_batch_repetitions(20000.0, 999.0, 10000), 21);
    assert_int_equal(bc_batch_repetitions(20000.0, 30000.0, 10000), 1);
    /* Without the clock's cost a time may be 0 or less. */
    assert_int_equal(bc_batch_repetitions(20000.0, -3.0, 10000), 10000);
    assert_int_equal(bc_batch_repetitions(20000.0, 0.5, 30000), 20000);
}

struct script {
    double repetition_ns;
    int disturbed; /* the call that takes a second; -1: none */
    int calls;
};

static double repeat(void *context, int64_t repetitions)
{
    struct script *const script = context;
    return script->calls++ == script->disturbed ? 1e9 : script->repetition_ns * (double)repetitions;
}

static int64_t double_from(int64_t min, int64_t max, double repetition_ns, int disturbed)
{
    struct script script = {.repetition_ns = repetition_ns, .disturbed = disturbed};
    return bc_batch_double(min, max, 20000.0, repeat, &script);
}

TEST(repetitions_are_doubled)
{
    assert_int_equal(double_from(1, 65536, 100.0, -1), 256);
    assert_int_equal(double_from(1, 65536, 20000.0, -1), 1);
    assert_int_equal(double_from(3, 65536, 100.0, -1), 384); /* 3 ranks that take turns */
    assert_int_equal(double_from(1, 65536, 0.0, -1), 65536);
    assert_int_equal(double_from(1, 100, 10.0, -1), 100);
    assert_int_equal(double_from(7, 5, 1.0, -1), 5);
}

TEST(one_disturbance_is_not_enough)
{
    for (int call = 0; call < 9; call++)
        assert_int_equal(double_from(1, 65536, 100.0, call), 256);
}
