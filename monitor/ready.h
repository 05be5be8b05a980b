/*
 * Makes the monitor ready once MPI is.
 */
#ifndef COMMCOST_MONITOR_READY_H
#define COMMCOST_MONITOR_READY_H

#include <stdbool.h>

/* Whether MPI is initialised and not finalised. If so, the monitor is ready afterwards. Local. */
bool mpi_is_there(void);

#endif
