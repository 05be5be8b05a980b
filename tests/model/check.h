/* What the model's tests share: a clock of their own and checks that print what was measured and
 * what was claimed. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static bool check_prints;
static int check_failures;

/* prints: on one rank only, for what all ranks check alike. */
static inline void check_begin(bool prints) { check_prints = prints; }

static inline double check_now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* NaN is never close. */
static inline void check_close(const char *what, double is, double should_be, double tolerance)
{
    const bool close = fabs(is - should_be) <= tolerance;
    check_failures += !close;
    if (check_prints)
        printf("%-4s %-28s %10.4f  should be %10.4f +- %.4f\n", close ? "ok" : "FAIL", what, is,
               should_be, tolerance);
}

static inline void check_at_least(const char *what, double is, double smallest)
{
    const bool enough = is >= smallest;
    check_failures += !enough;
    if (check_prints)
        printf("%-4s %-28s %10.4f  should be at least %10.4f\n", enough ? "ok" : "FAIL", what, is,
               smallest);
}

static inline void check_equal(const char *what, long is, long should_be)
{
    const bool equal = is == should_be;
    check_failures += !equal;
    if (!equal || check_prints)
        printf("%-4s %-40s %ld  should be %ld\n", equal ? "ok" : "FAIL", what, is, should_be);
}

/* The exit status. */
static inline int check_end(void)
{
    (void)fflush(stdout);
    return check_failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
