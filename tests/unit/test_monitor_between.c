/*
 * What the last call of a thread completed.
 */
#include "helpers.h"

#include "monitor/between.h"

static struct settled some(int size_class, int64_t operations)
{
    return (struct settled){.epoch = 3,
                            .communicator = 1,
                            .kind = 2,
                            .size_class = (uint8_t)size_class,
                            .operations = operations};
}

static void alike_ones_are_one(void **state)
{
    (void)state;
    between_begin(100, 7, 5);
    assert_int_equal(between.computing_ticks, 100);
    assert_int_equal(between.kind, 7);
    assert_int_equal(between.communicator, 5);
    for (int i = 0; i < 3; i++) {
        const struct settled settled[] = {some(4, 1), some(5, 2)};
        between_settle(&settled[0]);
        between_settle(&settled[1]);
    }
    assert_int_equal(between.operations, 9);
    assert_int_equal(between.count, 2);
    assert_int_equal(between.settled[0].operations, 3);
    assert_int_equal(between.settled[1].operations, 6);
    /* The next call starts anew. */
    between_begin(200, 7, 5);
    assert_int_equal(between.operations, 0);
    assert_int_equal(between.count, 0);
}

static void those_that_differ_in_anything_are_not(void **state)
{
    (void)state;
    between_begin(0, BETWEEN_NONE, 0);
    struct settled settled[] = {some(4, 1), some(5, 1), some(4, 1), some(4, 1), some(4, 1)};
    settled[2].epoch++;
    settled[3].communicator++;
    settled[4].kind++;
    for (size_t i = 0; i < COUNT(settled); i++)
        between_settle(&settled[i]);
    assert_int_equal(between.count, COUNT(settled));
}

/* Those without room count among all, and so get their part, which nobody has. */
static void more_than_there_is_room_for(void **state)
{
    (void)state;
    between_begin(0, BETWEEN_NONE, 0);
    for (int i = 0; i < SETTLED_MAX + 4; i++) {
        const struct settled settled = some(i, 1);
        between_settle(&settled);
    }
    assert_int_equal(between.count, SETTLED_MAX);
    assert_int_equal(between.operations, SETTLED_MAX + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_ones_are_one),
        cmocka_unit_test(those_that_differ_in_anything_are_not),
        cmocka_unit_test(more_than_there_is_room_for),
    };
    return cmocka_run_group_tests_name("monitor_between", tests, NULL, NULL);
}
