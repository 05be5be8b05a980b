/*
 * What launchers and batch systems tell a process in environment variables, before MPI_Init and
 * where it runs without MPI. All functions are local.
 */
#ifndef COMMCOST_COMMON_MACHINE_LAUNCHER_H
#define COMMCOST_COMMON_MACHINE_LAUNCHER_H

#include <stdbool.h>

/* Whether this is the first process of its job, or no launcher says which one is. */
bool bc_launcher_is_first(void);

/* The number of processes of the job; 0 where no launcher says. */
long bc_launcher_processes(void);

/* The batch system's id of the job; NULL where there is none. */
const char *bc_launcher_job_id(void);

#endif
