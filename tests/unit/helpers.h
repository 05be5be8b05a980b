/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the unit tests share: cmocka and the starter, comparing real numbers, command lines, pauses,
 * and random numbers that are the same on every machine.
 */
#ifndef COMMCOST_TESTS_UNIT_HELPERS_H
#define COMMCOST_TESTS_UNIT_HELPERS_H

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "starter.h"

#include <math.h>
#include <time.h>

/* cmocka's `state` and the arguments of stand-ins for other functions. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Fails with both numbers unless they are within `tolerance`, the same infinity, or both NAN. A
   macro, so that the failure is reported at the caller's line. */
#define assert_near(actual, expected, tolerance)                                                   \
    check_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)

static inline void check_near(double actual, double expected, double tolerance, const char *what,
                              const char *file, int line)
{
    if (actual == expected || fabs(actual - expected) <= tolerance ||
        (isnan(actual) && isnan(expected)))
        return;
    print_error("%s is %.17g, not within %.3g of %.17g\n", what, actual, tolerance, expected);
    _fail(file, line);
}

/* Texts, ended by NULL: for make_arguments a command line without the program's name. WORDS(NULL)
   has none. */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
enum { WORDS_MAX = 32 };

/* Makes the argv of a program from at most WORDS_MAX - 2 words and returns its argc. */
static inline int make_arguments(char *argv[WORDS_MAX], const char *const *words)
{
    int argc = 0;
    /* getopt_long takes pointers to char and changes nothing. */
    memcpy(&argv[argc++], &(const char *){"program"}, sizeof *argv);
    for (; *words != NULL; words++)
        memcpy(&argv[argc++], words, sizeof *argv);
    argv[argc] = NULL;
    return argc;
}

/* For bc_options_parse: an environment without variables. */
static inline const char *no_variable(const char *name)
{
    (void)name;
    return NULL;
}

/* splitmix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
   2014. */
struct random {
    uint64_t state;
    double spare_normal; /* NAN: none */
};

static inline struct random random_from(uint64_t seed)
{
    return (struct random){.state = seed, .spare_normal = NAN};
}

static inline uint64_t random_bits(struct random *random)
{
    uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Above 0 and below 1. */
static inline double random_uniform(struct random *random)
{
    return ((double)(random_bits(random) >> 11) + 0.5) / 9007199254740992.0;
}

/* A whole number from 0 to below - 1. */
static inline size_t random_below(struct random *random, size_t below)
{
    return (size_t)(random_bits(random) % below);
}

/* Standard normal, by the method of Box and Muller, which makes two numbers at a time. */
static inline double random_normal(struct random *random)
{
    if (!isnan(random->spare_normal)) {
        const double spare = random->spare_normal;
        random->spare_normal = NAN;
        return spare;
    }
    const double radius = sqrt(-2.0 * log(random_uniform(random)));
    const double angle = 2.0 * acos(-1.0) * random_uniform(random);
    random->spare_normal = radius * sin(angle);
    return radius * cos(angle);
}

#endif
