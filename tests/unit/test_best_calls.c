/* SPDX-License-Identifier: BSD-3-Clause */
/* Search for the number of calls of MPI_Test, by the exposed time of operations in stages. */
#include "helpers.h"

#include "overlap/engine/calls.h"

#include <math.h>

/* An operation that takes DURATION_NS in equal stages, each of which but the first a call must
   start; and work twice as long. */
#define DURATION_NS 200000.0
#define TOLERANCE_NS (0.005 * DURATION_NS)
enum { TRIALS_MAX = 30 };

struct staged {
    int stages;
    double call_ns;
};

static double exposed_ns(const struct staged *operation, int64_t calls)
{
    const double stage_ns = DURATION_NS / operation->stages;
    const double part_ns = 2.0 * DURATION_NS / (double)(calls + 1);
    double end_ns = stage_ns;
    int left = operation->stages - 1;
    for (int64_t k = 1; k <= calls; k++) {
        const double now_ns = (double)k * (part_ns + operation->call_ns);
        if (end_ns > now_ns)
            continue;
        if (left == 0)
            return (double)k * operation->call_ns;
        end_ns = now_ns + stage_ns;
        left--;
    }
    const double wait_ns = 2.0 * DURATION_NS + (double)calls * operation->call_ns;
    return (double)calls * operation->call_ns + fmax(0.0, end_ns - wait_ns) + left * stage_ns;
}

/* Returns the number found with noise of this standard deviation, in at most TRIALS_MAX trials. */
static int64_t search(const struct staged *operation, int64_t limit, double noise_ns,
                      struct random *random)
{
    struct overlap_calls_search search;
    overlap_calls_begin(&search, limit, TOLERANCE_NS);
    int trials = 0;
    while (!search.done) {
        assert_true(search.next >= 0 && search.next <= limit);
        assert_true(++trials <= TRIALS_MAX);
        overlap_calls_report(&search,
                             exposed_ns(operation, search.next) + noise_ns * random_normal(random));
    }
    return overlap_calls_best(&search);
}

static double least_ns(const struct staged *operation, int64_t limit)
{
    double least = INFINITY;
    for (int64_t calls = 0; calls <= limit; calls++)
        least = fmin(least, exposed_ns(operation, calls));
    return least;
}

TEST(known_numbers)
{
    static const struct {
        struct staged operation;
        int64_t limit, best;
    } cases[] = {{{1, 2000.0}, 1000, 0},   {{2, 2000.0}, 1000, 1}, {{17, 2000.0}, 1000, 16},
                 {{34, 2000.0}, 1000, 33}, {{1000, 1.0}, 50, 50},  {{5, 1.0}, 1, 1},
                 {{5, 1.0}, 0, 0},         {{1, 0.0}, 1000, 0}};
    struct random random = random_from(1);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(search(&cases[i].operation, cases[i].limit, 0.0, &random), cases[i].best);
}

/* Four calls and eight are equally good, three better: whichever of the two seems the better one.
 */
TEST(before_equal_ones)
{
    const struct staged operation = {4, 10000.0};
    struct random random = random_from(5);
    for (int i = 0; i < 100; i++)
        assert_int_equal(search(&operation, 1000, 300.0, &random), 3);
}

/* Random stages and costs, with noise: the number that is found leaves at most 2 % of the
   operation's time more exposed than the best one, in 95 of 100 searches. */
TEST(under_noise)
{
    enum { SEARCHES = 400, LIMIT = 300 };
    struct random random = random_from(4);
    int good = 0;
    for (int i = 0; i < SEARCHES; i++) {
        const int stages = 1 + (int)(40.0 * random_uniform(&random));
        const struct staged operation = {stages,
                                         DURATION_NS / stages * 0.3 * random_uniform(&random)};
        const int64_t found = search(&operation, LIMIT, 0.001 * DURATION_NS, &random);
        if (exposed_ns(&operation, found) <= least_ns(&operation, LIMIT) + 0.02 * DURATION_NS)
            good++;
    }
    print_message("%d of %d searches within 2 %%\n", good, SEARCHES);
    assert_true(good >= SEARCHES * 95 / 100);
}
