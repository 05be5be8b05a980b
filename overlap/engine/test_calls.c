/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/measurement.h"

/* Rounds with each number of calls that is tried. */
#define CALLS_ROUNDS 5

/* Exposed times within this share of the reference are equally good. */
#define CALLS_TOLERANCE 0.005

/* Numbers whose exposed time is within this share of the reference above the min are tried again,
   alternately, CALLS_TRIALS times; their medians are compared. */
#define CALLS_CLOSE 0.25
#define CALLS_TRIALS 3

/* Min time of a part of the work between calls, unless two readings of the clock take longer. */
#define CALLS_PART_NS 100.0

static int64_t max_calls(const struct overlap_measurement *m)
{
    const double part_ns = fmax(CALLS_PART_NS, 2.0 * m->run->max_clock.read_ns);
    const double work_ns = m->parameters->plenty * m->row->reference_ns;
    return (int64_t)fmin(OVERLAP_TEST_CALLS_LIMIT, fmax(0.0, work_ns / part_ns - 1.0));
}

/* Sets the number of calls; returns the plan of its rounds. Collective. */
static struct bc_plan begin_trial(struct overlap_measurement *m, int64_t calls, double deadline_s)
{
    m->x.parts = calls + 1;
    overlap_choose_plenty(m);
    bc_samples_clear(&m->x.own_plenty);
    return overlap_plan_of(m, CALLS_ROUNDS, deadline_s);
}

/* Returns the exposed time of these rounds. Collective. */
static double end_trial(const struct overlap_measurement *m)
{
    double estimates_ns[OVERLAP_GAIN_ESTIMATED];
    overlap_slowest_gain(&m->x, 0, m->x.own_plenty.count, estimates_ns);
    bc_output_remark(m->debug, "debug", "%lld calls of MPI_Test: %.3f us exposed",
                     (long long)m->x.parts - 1, estimates_ns[OVERLAP_GAIN_EXPOSED] * 1e-3);
    return estimates_ns[OVERLAP_GAIN_EXPOSED];
}

void overlap_search_calls(struct overlap_measurement *m, double deadline_s,
                          struct overlap_calls_search *search)
{
    overlap_calls_begin(search, max_calls(m), CALLS_TOLERANCE * m->row->reference_ns);
    for (;;) {
        const bool ends = search->done || (search->count > 0 && bc_elapsed_s() >= deadline_s);
        const int64_t next = overlap_of_root(ends ? OVERLAP_AUTO : search->next);
        if (next == OVERLAP_AUTO)
            return;
        const struct bc_plan plan = begin_trial(m, next, deadline_s);
        overlap_plenty_rounds(m->run, &m->x, &plan);
        const double exposed_ns = end_trial(m);
        if (m->root)
            overlap_calls_report(search, exposed_ns);
    }
}

void overlap_settle_calls(struct overlap_measurement *m, double deadline_s,
                          struct overlap_calls_search *search)
{
    const double within_ns = CALLS_CLOSE * m->row->reference_ns;
    double found_ns[OVERLAP_CALLS_TRIED_MAX][CALLS_TRIALS];
    int64_t calls[OVERLAP_CALLS_TRIED_MAX] = {0}, count = 0;
    int close[OVERLAP_CALLS_TRIED_MAX] = {0}, tries = 0;
    for (int i = 0; m->root && i < search->count; i++)
        if (overlap_calls_is_close(search, i, within_ns)) {
            calls[count] = search->tried[i].calls;
            close[count++] = i;
        }
    count = overlap_of_root(count);
    bc_harness_bcast(calls, OVERLAP_CALLS_TRIED_MAX, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (; count > 1 && tries < CALLS_TRIALS && overlap_of_root(bc_elapsed_s() < deadline_s);
         tries++)
        for (int64_t i = 0; i < count; i++) {
            const struct bc_plan plan = begin_trial(m, calls[i], deadline_s);
            overlap_plenty_rounds(m->run, &m->x, &plan);
            found_ns[i][tries] = end_trial(m);
        }
    for (int64_t i = 0; m->root && tries == CALLS_TRIALS && i < count; i++)
        search->tried[close[i]].exposed_ns = bc_median(found_ns[i], CALLS_TRIALS);
    m->row->exposed_without_calls_ns = search->tried[0].exposed_ns;
    m->row->test_calls = overlap_of_root(overlap_calls_best(search));
    bc_samples_clear(&m->x.own_plenty);
}
