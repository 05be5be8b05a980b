/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers of ranks that MPI must be asked about. */
#pragma once

#include "monitor/lib/count/communicators.h"

/* Returns the peer of a rank of a communicator that has this number. Learns the communicator's
   ranks if there is room. Takes the lock. */
int32_t rank_peer_ask(int communicator, int rank);
