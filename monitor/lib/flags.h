/*
 * Flags of a monitor's handle, in the order of reports. They are also words of MPIRT_MONITOR.
 */
#pragma once

#include "monitor/lib/mpirtmon.h"

#include <stdbool.h>

#define MONITOR_FLAGS(FLAG)                                                                        \
    FLAG(pttopt)                                                                                   \
    FLAG(coll) FLAG(calls) FLAG(sizes) FLAG(comm) FLAG(msgsize) FLAG(traffic) FLAG(other)

#define MONITOR_FLAGS_TEXT "pttopt, coll, calls, sizes, comm, msgsize, traffic or other"

static inline bool any_flag(const MPIX_Monitor *handle)
{
#define OR_FLAG(Flag) || handle->Flag
    return 0 MONITOR_FLAGS(OR_FLAG);
#undef OR_FLAG
}

/* True if a flag of the handle counts messages and puts, or collectives. */
static inline bool counts_messages(const MPIX_Monitor *asked)
{
    return asked->pttopt || asked->calls || asked->sizes || asked->comm || asked->msgsize ||
           asked->traffic;
}

static inline bool counts_collectives(const MPIX_Monitor *asked)
{
    return asked->coll || asked->calls || asked->sizes || asked->comm;
}
