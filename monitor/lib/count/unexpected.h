/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unexpected messages: those that have arrived before their receive, as the MPI library counts them
 * for each communicator (Open MPI: the variable pml_ob1_unexpected_msgq_length of MPI_T).
 *
 * A receive that begins takes the largest number, since only receives make it smaller. Reading it
 * takes a step per process of the communicator, so it is read at most so often that it takes 1 % of
 * the time.
 */
#pragma once

#include <mpi.h>

/* Finds the variable. Call it when MPI is initialised, before monitoring. */
void unexpected_start(void);

/* Reads the number of this communicator, which may raise the depth. Call it where a receive begins.
   Takes the monitor's lock. */
void unexpected_count(MPI_Comm comm);
