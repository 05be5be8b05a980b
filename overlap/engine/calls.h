/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Search for the number of calls of MPI_Test with the min exposed time. Pure logic: trials go in,
 * numbers come out. All functions are local.
 *
 * With more calls the exposed time falls, as the library makes progress, and then rises by the cost
 * of calls. The numbers 0, 1, 2, 4, 8 ... are tried until the exposed time rises or the limit is
 * reached. Then numbers between them are tried: where the lines through the trials on both sides
 * meet, or half-way, as long as these lines leave room for a better number. The interval with the
 * lowest bound comes first, which need not be next to the best number: two distant numbers can be
 * equally good, with a better number before both.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { OVERLAP_CALLS_TRIED_MAX = 64 };

struct overlap_calls_trial {
    int64_t calls;
    double exposed_ns;
};

struct overlap_calls_search {
    int64_t limit;       /* the max number of calls to try */
    double tolerance_ns; /* exposed times within this are equally good */
    int64_t next;        /* the number to try next */
    bool done;
    struct overlap_calls_trial tried[OVERLAP_CALLS_TRIED_MAX]; /* in ascending order of calls */
    int count;
    bool refining; /* numbers between trials are tried */
};

void overlap_calls_begin(struct overlap_calls_search *search, int64_t limit, double tolerance_ns);

/* Takes the exposed time with `next` calls; sets `done` or the next number. */
void overlap_calls_report(struct overlap_calls_search *search, double exposed_ns);

/* True if trial i exceeds the min by at most `within_ns`, so that a second trial may change the
   order. */
bool overlap_calls_is_close(const struct overlap_calls_search *search, int i, double within_ns);

/* Returns the smallest number whose exposed time is within the tolerance of the min; 0 if there are
   no trials. */
int64_t overlap_calls_best(const struct overlap_calls_search *search);
