/*
 * The search for the number of calls of MPI_Test with the min exposed time: the number to try next,
 * and the end. Pure logic: trials go in, numbers come out; the unit test drives it with functions.
 * All functions are local.
 *
 * More calls give the library more occasions to make progress, until it needs no more of them; each
 * costs its own time. So the exposed time falls and then rises again. The numbers 0, 1, 2, 4, 8 ...
 * are tried until the exposed time rises or the limit is reached. Then numbers between them are
 * tried: where the lines through the trials on both sides meet, or half-way, as long as these lines
 * leave room for a better number. The interval with the lowest bound comes first. It need not be
 * beside the best number so far: where a call costs what it gains, two distant numbers are equally
 * good, and a better one lies before both.
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
    double tolerance_ns; /* exposed times that differ by less are as good */
    int64_t next;        /* the number to try next */
    bool done;
    struct overlap_calls_trial tried[OVERLAP_CALLS_TRIED_MAX]; /* by rising number */
    int count;
    bool refining; /* the best number has been passed */
};

void overlap_calls_begin(struct overlap_calls_search *search, int64_t limit, double tolerance_ns);

/* Takes in the exposed time with `next` calls; sets `done` or the next number. */
void overlap_calls_report(struct overlap_calls_search *search, double exposed_ns);

/* True if trial i is worth another look: a moment of the machine may have made it better or worse
   than it is. It isn't if it exceeds the min by more than `within_ns`. */
bool overlap_calls_is_close(const struct overlap_calls_search *search, int i, double within_ns);

/* Of the numbers that were tried and whose exposed time is within the tolerance of the min, the
   smallest; 0 if none was tried. */
int64_t overlap_calls_best(const struct overlap_calls_search *search);
