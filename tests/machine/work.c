/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of work: linear in its units, and equal to the calibration. */
#include "common/work/work.h"
#include "common/clock/clock.h"
#include "tests/machine/in_process.h"

#include <math.h>
#include <stdio.h>

/* The time that a pair of rows takes, in ns. */
#define PAIR_NS 10e6

struct amount {
    uint64_t units;
    double ns, clock_ns;
};

static double at_once_ns(void *context)
{
    const struct amount *const amount = context;
    const int64_t start_ns = bc_now_ns();
    bc_work(2 * amount->units);
    return (double)(bc_now_ns() - start_ns);
}

static double in_halves_ns(void *context)
{
    const struct amount *const amount = context;
    const int64_t start_ns = bc_now_ns();
    const uint64_t result = bc_work(amount->units);
    uint64_t same = result;
    __asm__("" : "+r"(same)); /* So that neither compiler nor processor begins before the end. */
    bc_work(amount->units + (result ^ same));
    return (double)(bc_now_ns() - start_ns);
}

/* Both of the quickest of some, as the calibration is of the quickest: that is work which nothing
   interrupts. */
static double calibrated_ns(void *context)
{
    const struct amount *const amount = context;
    const struct bc_work_rate rate = bc_work_calibrate();
    return bc_work_ns(&rate, 2 * amount->units);
}

static double quickest_ns(void *context)
{
    enum { TIMES = 400 };
    double least_ns = INFINITY;
    for (int i = 0; i < TIMES; i++)
        least_ns = fmin(least_ns, at_once_ns(context));
    return least_ns - ((const struct amount *)context)->clock_ns;
}

void work_pairs(void)
{
    static const double halves_us[] = {1, 10, 100, 300};
    const struct bc_work_rate rate = bc_work_calibrate();
    struct amount amount = {.clock_ns = bc_clock_measure().read_ns};
    for (int i = 0; i < 4; i++) {
        char name[64];
        amount.units = bc_work_units(&rate, halves_us[i] * 1e3);
        const double turns = fmin(PAIR_NS / (4e3 * halves_us[i]), IN_PROCESS_TURNS);
        (void)snprintf(name, sizeof name, "%g us at once and in halves", 2 * halves_us[i]);
        in_process_pair(name, at_once_ns, in_halves_ns, &amount, 2 * (int)(turns / 2));
    }
    amount.units = bc_work_units(&rate, 10e3);
    in_process_pair("20 us as calibrated", calibrated_ns, quickest_ns, &amount, 4);
}
