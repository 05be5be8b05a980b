/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts from the environment variables of launchers and batch systems, before MPI_Init and without
   MPI. All functions are local. */
#pragma once

#include <stdbool.h>

/* Returns true for the first process of the job, and if no launcher numbers the processes. */
bool bc_launcher_is_first(void);

/* Returns the number of processes of the job, the minimum of several launchers' numbers, since an
   outer job's may be inherited; 0: not known. */
long bc_launcher_processes(void);

/* Returns true if an MPI library's launcher started the process, not a batch system alone: a single
   process in a shell of a job step with many tasks may be intended. */
bool bc_launcher_is_mpirun(void);

/* Returns the batch system's id of the job; NULL: none. */
const char *bc_launcher_job_id(void);

/* Returns true if NAME=VALUE is a variable that tunes an MPI library and that no launcher sets. */
bool bc_is_mpi_variable(const char *definition);
