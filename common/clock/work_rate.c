#include "common/clock/work.h"

uint64_t bc_work_units(const struct bc_work_rate *rate, double ns)
{
    /* Where time stands still (on a simulated machine) no amount of work takes any. */
    if (!(rate->ns_per_unit > 0.0))
        return 0;
    const double units = (ns - rate->call_ns) / rate->ns_per_unit;
    return units < 1.0 ? 0 : (uint64_t)(units + 0.5);
}

double bc_work_ns(const struct bc_work_rate *rate, uint64_t units)
{
    return units == 0 ? 0.0 : rate->call_ns + rate->ns_per_unit * (double)units;
}
