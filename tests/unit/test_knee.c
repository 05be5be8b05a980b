/* SPDX-License-Identifier: BSD-3-Clause */
/* The fit of a plateau and a line: known knees are found. */
#include "helpers.h"
#include "mpi_overhead/mpi_overhead.h"

/* Makes points at 1, 2, 4 ... ns of work on a curve of known plateau and overhead; returns their
   number. */
static size_t make_points(struct knee_point *points, double plateau_ns, double overhead_ns,
                          double max_ns)
{
    size_t count = 0;
    for (double work_ns = 1.0; work_ns <= max_ns; work_ns *= 2.0) {
        const double line_ns = work_ns + overhead_ns;
        points[count++] = (struct knee_point){work_ns, line_ns > plateau_ns ? line_ns : plateau_ns};
    }
    return count;
}

TEST(exact_curves_are_found)
{
    static const double overheads[] = {0.0, 50.0, 400.0, 900.0};
    for (size_t i = 0; i < sizeof overheads / sizeof *overheads; i++) {
        struct knee_point points[KNEE_POINTS_MAX];
        const size_t count = make_points(points, 1000.0, overheads[i], 5000.0);
        const struct knee_fit fit = knee_fit(points, count, 20.0);
        assert_true(fit.found);
        assert_near(fit.plateau_ns, 1000.0, 1e-9);
        assert_near(fit.overhead_ns, overheads[i], 1e-9);
        assert_true(fit.plateau >= 1 && fit.line < count);
        assert_true(points[fit.plateau - 1].work_ns + overheads[i] <= 1000.0);
        assert_true(points[fit.line].work_ns + overheads[i] >= 1000.0);
    }
}

/* Where a transfer makes no progress under work, only the first point counts as plateau. */
TEST(no_overlap_is_all_line)
{
    struct knee_point points[KNEE_POINTS_MAX];
    const size_t count = make_points(points, 0.0, 700.0, 3000.0);
    const struct knee_fit fit = knee_fit(points, count, 10.0);
    assert_true(fit.found);
    assert_int_equal(fit.plateau, 1);
    assert_near(fit.overhead_ns, 700.0, 1e-9);
}

/* An outlier on the plateau and one on the line move neither median. */
TEST(outliers_do_not_matter)
{
    struct knee_point points[KNEE_POINTS_MAX];
    const size_t count = make_points(points, 1000.0, 100.0, 20000.0);
    points[2].iter_ns = 9000.0;
    points[count - 2].iter_ns = 90000.0;
    const struct knee_fit fit = knee_fit(points, count, 20.0);
    assert_near(fit.plateau_ns, 1000.0, 1e-9);
    assert_near(fit.overhead_ns, 100.0, 1e-9);
}

/* Just below and above the knee, at 900 ns of work, an iteration exceeds both. */
TEST(the_knee_may_be_blurred)
{
    static const struct knee_point points[] = {{200.0, 1000.0}, {500.0, 1000.0},  {890.0, 1030.0},
                                               {910.0, 1040.0}, {1200.0, 1300.0}, {1500.0, 1600.0}};
    const struct knee_fit fit = knee_fit(points, sizeof points / sizeof *points, 20.0);
    assert_int_equal(fit.plateau, 2);
    assert_int_equal(fit.line, 4);
    assert_near(fit.plateau_ns, 1000.0, 1e-9);
    assert_near(fit.overhead_ns, 100.0, 1e-9);
}

TEST(too_few_points)
{
    const struct knee_point point = {1.0, 10.0};
    assert_false(knee_fit(&point, 0, 1.0).found);
    assert_false(knee_fit(&point, 1, 1.0).found);
}
