#include "common/work.h"

#include "common/clock.h"
#include "common/stats.h"

/* Knuth's MMIX multiplier: any odd constant would do. */
#define STEP_MULTIPLIER UINT64_C(6364136223846793005)

__attribute__((noinline)) uint64_t bc_work(uint64_t units)
{
    uint64_t value = units | 1;
    for (uint64_t i = 0; i < units; i++) {
        value = value * STEP_MULTIPLIER + 1;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

static double time_work_ns(uint64_t units)
{
    const int64_t start_ns = bc_now_ns();
    bc_work(units);
    return (double)(bc_now_ns() - start_ns);
}

struct bc_work_rate bc_work_calibrate(void)
{
    enum { REPEATS = 25 };
    /* First guess: enough units to see with any clock, doubled up to 200 µs. */
    uint64_t large = 1024;
    double large_ns[REPEATS];
    double small_ns[REPEATS];
    double first_ns = time_work_ns(large);
    while (first_ns < 200e3 && large < UINT64_C(1) << 28) {
        if (large >= UINT64_C(1) << 20 && first_ns <= 0.0)
            return (struct bc_work_rate){0.0, 0.0}; /* time stands still */
        large *= 2;
        first_ns = time_work_ns(large);
    }
    const uint64_t small = large / 10;
    for (int i = 0; i < REPEATS; i++) {
        small_ns[i] = time_work_ns(small);
        large_ns[i] = time_work_ns(large);
    }
    const double clock_ns = bc_clock_measure().read_ns;
    const double small_median = bc_median(small_ns, REPEATS);
    const double large_median = bc_median(large_ns, REPEATS);
    struct bc_work_rate rate;
    rate.ns_per_unit = (large_median - small_median) / (double)(large - small);
    rate.call_ns = small_median - clock_ns - rate.ns_per_unit * (double)small;
    return rate;
}

uint64_t bc_work_units(const struct bc_work_rate *rate, double ns)
{
    /* Where time stands still (a simulated machine) no amount takes it. */
    if (!(rate->ns_per_unit > 0.0))
        return 0;
    const double units = (ns - rate->call_ns) / rate->ns_per_unit;
    return units < 1.0 ? 0 : (uint64_t)(units + 0.5);
}

double bc_work_ns(const struct bc_work_rate *rate, uint64_t units)
{
    return units == 0 ? 0.0
                      : rate->call_ns + rate->ns_per_unit * (double)units;
}
