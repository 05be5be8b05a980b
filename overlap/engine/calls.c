/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/calls.h"

#include <math.h>

/* Number of consecutive trials above the min that show a rise. */
#define RISES 2

void overlap_calls_begin(struct overlap_calls_search *search, int64_t limit, double tolerance_ns)
{
    *search = (struct overlap_calls_search){.limit = limit, .tolerance_ns = tolerance_ns};
}

static int index_of_min(const struct overlap_calls_search *search)
{
    int min = 0;
    for (int i = 1; i < search->count; i++)
        if (search->tried[i].exposed_ns < search->tried[min].exposed_ns)
            min = i;
    return min;
}

bool overlap_calls_is_close(const struct overlap_calls_search *search, int i, double within_ns)
{
    return search->tried[i].exposed_ns <=
           search->tried[index_of_min(search)].exposed_ns + within_ns;
}

int64_t overlap_calls_best(const struct overlap_calls_search *search)
{
    if (search->count == 0)
        return 0;
    const double min_ns = search->tried[index_of_min(search)].exposed_ns;
    int i = 0;
    while (search->tried[i].exposed_ns > min_ns + search->tolerance_ns)
        i++;
    return search->tried[i].calls;
}

static void insert(struct overlap_calls_search *search, double exposed_ns)
{
    int i = search->count++;
    for (; i > 0 && search->tried[i - 1].calls > search->next; i--)
        search->tried[i] = search->tried[i - 1];
    search->tried[i] = (struct overlap_calls_trial){search->next, exposed_ns};
}

/* True if the last RISES numbers are all worse than the best one. */
static bool has_risen(const struct overlap_calls_search *search)
{
    return index_of_min(search) < search->count - RISES &&
           search->tried[search->count - 1].exposed_ns >
               search->tried[index_of_min(search)].exposed_ns + search->tolerance_ns;
}

/* Returns the rise of the exposed time for each call between two trials. */
static double slope(const struct overlap_calls_trial *from, const struct overlap_calls_trial *to)
{
    return (to->exposed_ns - from->exposed_ns) / (double)(to->calls - from->calls);
}

/* Returns the number to try between trials `left` and left + 1; 0: no number could beat the best by
   more than the tolerance. Between two numbers the exposed time lies above the lines through the
   trials on either side, as it is convex. *lowest_ns becomes its lower bound. */
static int64_t promising(const struct overlap_calls_search *search, int left, double *lowest_ns)
{
    const struct overlap_calls_trial *const from = &search->tried[left];
    const struct overlap_calls_trial *const to = from + 1;
    const double min_ns = search->tried[index_of_min(search)].exposed_ns;
    const double width = (double)(to->calls - from->calls);
    if (to->calls - from->calls < 2)
        return 0;
    /* Before the first trial the line may fall, after the last trial it may rise, without bound. */
    const double falls = left > 0 ? slope(from - 1, from) : -INFINITY;
    const double rises = left + 2 < search->count ? slope(to, to + 1) : INFINITY;
    double from_left = width / 2.0; /* where the lines meet */
    double bound_ns = -INFINITY;
    if (isfinite(falls) && isfinite(rises) && rises > falls) {
        from_left = (to->exposed_ns - from->exposed_ns - rises * width) / (falls - rises);
        from_left = fmin(width - 1.0, fmax(1.0, from_left));
        bound_ns = from->exposed_ns + falls * from_left;
    } else if (isfinite(rises)) {
        bound_ns = fmin(from->exposed_ns, to->exposed_ns - rises * (width - 1.0));
    } else if (isfinite(falls)) {
        bound_ns = from->exposed_ns + falls * (width - 1.0);
    }
    if (bound_ns >= min_ns - search->tolerance_ns)
        return 0;
    *lowest_ns = bound_ns;
    return from->calls + (int64_t)llround(from_left);
}

static void choose_next(struct overlap_calls_search *search)
{
    const int64_t last = search->tried[search->count - 1].calls;
    search->done = search->count == OVERLAP_CALLS_TRIED_MAX;
    if (!search->refining && last < search->limit && !has_risen(search)) {
        const int64_t more = last == 0 ? 1 : last > search->limit / 2 ? search->limit : 2 * last;
        search->next = more;
        return;
    }
    search->refining = true;
    search->next = 0;
    double min_ns = INFINITY;
    for (int left = 0; left + 1 < search->count; left++) {
        double lowest_ns = INFINITY;
        const int64_t calls = promising(search, left, &lowest_ns);
        if (calls != 0 && lowest_ns < min_ns) {
            search->next = calls;
            min_ns = lowest_ns;
        }
    }
    search->done = search->done || search->next == 0;
}

void overlap_calls_report(struct overlap_calls_search *search, double exposed_ns)
{
    insert(search, exposed_ns);
    choose_next(search);
}
