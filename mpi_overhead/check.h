/*
 * The data of --check: each message differs from the last one, so that old data can't pass for new.
 */
#ifndef COMMCOST_MPI_OVERHEAD_CHECK_H
#define COMMCOST_MPI_OVERHEAD_CHECK_H

#include "mpi_overhead/kernel.h"

/* Fills the buffer with the next message on the rank that sends, with zeros, which no message
   has, on the other. Local; to be called on both ranks of a pair alike. */
void overhead_prepare_data(struct overhead_exchange *exchange);

/* Counts a message that arrived wrong on this rank. Local. */
void overhead_verify_data(struct overhead_exchange *exchange);

#endif
