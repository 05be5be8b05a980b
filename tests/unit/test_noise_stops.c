/* SPDX-License-Identifier: BSD-3-Clause */
/* Stops from readings of the clock, their lengths, and the time that is lost in cells. */
#include "helpers.h"

#include "noise/rank_stops.h"

#include <math.h>
#include <string.h>

enum { QUANTA = 1000, QUANTUM_NS = 1000 };

/* Makes readings before and after quanta; quantum i takes longer_ns[i] longer than usual. */
static void read_quanta(int64_t readings[QUANTA + 1], int64_t from_ns, const int64_t *longer_ns)
{
    readings[0] = from_ns;
    for (int i = 0; i < QUANTA; i++)
        readings[i + 1] = readings[i] + QUANTUM_NS + i % 3 + longer_ns[i];
}

TEST(stops_are_what_takes_longer)
{
    int64_t readings[QUANTA + 1], longer_ns[QUANTA] = {0};
    struct noise_stops stops = {0};
    longer_ns[10] = 5000;
    longer_ns[11] = 400; /* too short */
    longer_ns[999] = 2000000;
    noise_stops_begin_visit(&stops);
    read_quanta(readings, 70000, longer_ns);
    noise_stops_add(&stops, readings, QUANTA, 500.0);
    assert_int_equal(stops.count, 2);
    assert_in_range(stops.stop[0].length_ns, 4998, 5002);
    assert_in_range(stops.stop[0].begin_ns, readings[10], readings[10] + QUANTUM_NS);
    assert_in_range(stops.stop[1].length_ns, 1999998, 2000002);
    const struct noise_watch *const watch = &stops.visits[0];
    assert_int_equal(watch->stops, 2);
    assert_int_equal(watch->stopped_ns, stops.stop[0].length_ns + stops.stop[1].length_ns);
    assert_int_equal(watch->watched_ns, readings[QUANTA] - readings[0]);
    assert_int_equal(watch->quanta, QUANTA);
    assert_int_equal(watch->begin_ns, readings[0]);
    assert_int_equal(watch->end_ns, readings[QUANTA]);
    noise_stops_free(&stops);
}

/* A visit that was cut short doesn't count, unless it is the only one. */
TEST(a_visit_that_was_cut_short)
{
    int64_t readings[QUANTA + 1], longer_ns[QUANTA] = {0};
    struct noise_stops stops = {0};
    longer_ns[10] = 5000;
    for (int visit = 0; visit < 3; visit++) {
        noise_stops_begin_visit(&stops);
        for (int block = 0; block < (visit < 2 ? 10 : 1); block++) {
            read_quanta(readings, (10 * visit + block) * 10000000L, longer_ns);
            noise_stops_add(&stops, readings, QUANTA, 500.0);
        }
    }
    noise_stops_drop_cut_visit(&stops);
    assert_int_equal(stops.count, 20);
    assert_int_equal(stops.visit_count, 3);
    assert_int_equal(stops.visits[2].quanta, 0);
    assert_int_equal(stops.visits[2].stops, 0);
    noise_stops_drop_cut_visit(&stops);
    assert_int_equal(stops.visits[1].quanta, 10 * QUANTA);
    noise_stops_free(&stops);
    noise_stops_begin_visit(&stops);
    noise_stops_drop_cut_visit(&stops);
    read_quanta(readings, 0, longer_ns);
    noise_stops_add(&stops, readings, QUANTA, 500.0);
    noise_stops_drop_cut_visit(&stops);
    assert_int_equal(stops.count, 1);
    noise_stops_free(&stops);
}

/* A processor that gets slower isn't stopped. */
TEST(slower_quanta)
{
    int64_t readings[QUANTA + 1], longer_ns[QUANTA];
    struct noise_stops stops = {0};
    noise_stops_begin_visit(&stops);
    for (int block = 0; block < 4; block++) {
        for (int i = 0; i < QUANTA; i++)
            longer_ns[i] = 700 * block;
        read_quanta(readings, block * 10000000, longer_ns);
        noise_stops_add(&stops, readings, QUANTA, 500.0);
    }
    assert_int_equal(stops.count, 0);
    assert_int_equal(stops.visits[0].quanta, 4 * QUANTA);
    noise_stops_free(&stops);
}

TEST(quantiles_of_lengths)
{
    struct noise_histogram lengths = {0};
    assert_true(isnan(noise_histogram_quantile(&lengths, 0.5)));
    for (int i = 1; i <= 10000; i++)
        noise_histogram_add(&lengths, 100 * i);
    for (double p = 0.01; p < 1.0; p += 0.01)
        assert_true(fabs(noise_histogram_quantile(&lengths, p) / (1e6 * p) - 1.0) < 0.025);
    noise_histogram_add(&lengths, 0);
    noise_histogram_add(&lengths, INT64_MAX);
    assert_true(noise_histogram_quantile(&lengths, 0.0) < 2.0);
    assert_true(noise_histogram_quantile(&lengths, 1.0) > 1e12);
}

/* Each ns of a stop is in one cell; stops before or after all cells are in none. */
TEST(cells_of_stops)
{
    struct noise_stop made[] = {{-50, 20}, {-10, 30}, {55, 10}, {95, 230}, {398, 500}, {950, 10}};
    const struct noise_stops stops = {.stop = made, .count = 6};
    const float wanted[4] = {20.0F + 10.0F + 5.0F, 100.0F, 100.0F, 25.0F + 2.0F};
    float cells[4] = {0};
    assert_int_equal(noise_fill_cells(&stops, 0, 0.0, 100.0, cells, 4), 4);
    for (int i = 0; i < 4; i++)
        assert_true(fabsf(cells[i] - wanted[i]) < 1e-3F);
    /* The next cells continue with the stop that isn't over. */
    memset(cells, 0, sizeof cells);
    assert_int_equal(noise_fill_cells(&stops, 4, 400.0, 100.0, cells, 4), 4);
    assert_true(fabsf(cells[0] - 100.0F) < 1e-3F);
}

/* Cells that parts looked at, none of them twice. */
static double cells_looked_at(double cells, double max)
{
    double sum = 0.0, next = 0.0, first;
    int count;
    for (int i = 0; (count = noise_cell_part(cells, max, i, &first)) > 0; i++) {
        assert_true(first >= next && count > 0 && first + count <= cells);
        next = first + count;
        sum += count;
    }
    return sum;
}

TEST(no_cell_counts_twice)
{
    static const double few[] = {1, 2, 9400, 32768, 32769, 33751, 40000, 75757, 166667, 400000};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        assert_true(cells_looked_at(few[i], 699050) == few[i]);
    assert_true(cells_looked_at(699051, 699050) == 21 * 32768);
    assert_true(cells_looked_at(5e9, 699050) == 21 * 32768);
    /* With very many visits, `max` is less than a part. */
    assert_true(cells_looked_at(30000, 4194) == 30000);
    assert_true(cells_looked_at(50000, 4194) == 32768);
}
