/* The flags of a monitor's handle, in the order of reports. They are also words of MPIRT_MONITOR.
 */
#pragma once

#include "monitor/lib/mpirtmon.h"

#include <stdbool.h>

#define MONITOR_FLAGS(FLAG)                                                                        \
    FLAG(pttopt)                                                                                   \
    FLAG(coll) FLAG(calls) FLAG(sizes) FLAG(comm) FLAG(msgsize) FLAG(traffic) FLAG(other)

static inline bool any_flag(const MPIX_Monitor *handle)
{
#define OR_FLAG(Flag) || handle->Flag
    return 0 MONITOR_FLAGS(OR_FLAG);
#undef OR_FLAG
}
