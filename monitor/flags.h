/*
 * The flags of a monitor's handle, which are also the words of the variable MPIRT_MONITOR, in the
 * order of reports.
 */
#ifndef MONITOR_FLAGS_H
#define MONITOR_FLAGS_H

#define MONITOR_FLAGS(FLAG)                                                                        \
    FLAG(pttopt) FLAG(coll) FLAG(comm) FLAG(msgsize) FLAG(traffic) FLAG(other)

#endif
