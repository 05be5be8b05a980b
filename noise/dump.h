/* --dump-samples: when each rank was watched, and each of its stops. */
#pragma once

#include "noise/state.h"

/* Writes what all ranks saw to the file of --dump-samples, if there is one, in turn, so that rank 0
   has the stops of one at a time. Collective over MPI_COMM_WORLD. */
void noise_dump(const struct noise *noise, const struct noise_row *row);
