/*
 * Whether MPI is there.
 */
#ifndef MONITOR_LIFE_H
#define MONITOR_LIFE_H

#include <stdbool.h>

/* Whether MPI is initialised, and not yet finalised; makes the monitor ready if it hasn't seen
 * MPI_Init. Local. */
bool mpi_is_there(void);

#endif
