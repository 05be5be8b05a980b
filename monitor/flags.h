/*
 * The flags of a monitor's handle, in the order of reports. They are also words of the variable
 * MPIRT_MONITOR.
 */
#ifndef COMMCOST_MONITOR_FLAGS_H
#define COMMCOST_MONITOR_FLAGS_H

#include "monitor/mpirtmon.h"

#include <stdbool.h>

#define MONITOR_FLAGS(FLAG)                                                                        \
    FLAG(pttopt) FLAG(coll) FLAG(comm) FLAG(msgsize) FLAG(traffic) FLAG(other)

static inline void flags_set(MPIX_Monitor *handle)
{
#define SET_FLAG(Flag) handle->Flag = 1;
    MONITOR_FLAGS(SET_FLAG)
#undef SET_FLAG
}

/* Whether any flag is on. */
static inline bool flags_any(const MPIX_Monitor *handle)
{
#define OR_FLAG(Flag) || handle->Flag
    return 0 MONITOR_FLAGS(OR_FLAG);
#undef OR_FLAG
}

#endif
