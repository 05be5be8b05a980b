/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flags of a monitor's handle, in the order of reports. They are also words of MPIRT_MONITOR. The
 * word `all` sets MONITOR_FLAGS.
 */
#pragma once

#include "monitor/lib/mpirtmon.h"

#include <stdbool.h>

#define MONITOR_FLAGS(FLAG)                                                                        \
    FLAG(pttopt)                                                                                   \
    FLAG(coll) FLAG(calls) FLAG(sizes) FLAG(comm) FLAG(msgsize) FLAG(traffic) FLAG(other)

#define MONITOR_DETAIL_FLAGS(FLAG) FLAG(site) FLAG(peers) FLAG(depth)

#define MONITOR_FLAGS_TEXT                                                                         \
    "pttopt, coll, calls, sizes, comm, msgsize, traffic, other, site, peers or depth"

static inline bool any_flag(const MPIX_Monitor *handle)
{
#define OR_FLAG(Flag) || handle->Flag
    return 0 MONITOR_FLAGS(OR_FLAG) MONITOR_DETAIL_FLAGS(OR_FLAG);
#undef OR_FLAG
}

/* True if the report has the columns that only these flags need. */
static inline bool has_details(const MPIX_Monitor *asked)
{
    return asked->site || asked->peers || asked->depth;
}

/* True if a flag of the handle counts messages and puts, or collectives. */
static inline bool counts_messages(const MPIX_Monitor *asked)
{
    return asked->pttopt || asked->calls || asked->sizes || asked->comm || asked->msgsize ||
           asked->traffic || has_details(asked);
}

static inline bool counts_collectives(const MPIX_Monitor *asked)
{
    return asked->coll || asked->calls || asked->sizes || asked->comm || asked->site ||
           asked->depth;
}
