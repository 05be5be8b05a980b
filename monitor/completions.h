/*
 * What measuring adds to operations with a request.
 */
#ifndef COMMCOST_MONITOR_COMPLETIONS_H
#define COMMCOST_MONITOR_COMPLETIONS_H

#include <stdint.h>

/* Measures the monitor's own work between the start and the end of an operation with a request, in
   ticks, including the reading of the clock. Takes about 10 us. Call it while nothing is monitored.
   Local. */
uint64_t posted_own_ticks(void);

#endif
