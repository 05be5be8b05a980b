/* What programs make of the data that --check verified. */
#pragma once

#include "common/run/run.h"

/* Adds up what each rank found wrong in a row's data (`wrong`: operations, messages, swaps; 0
   without --check). If that is not 0, the row's status becomes BC_FAIL, with which the program ends
   with exit status 1. Returns the sum on rank 0, and 0 on all others. Call it when `outcome` is
   complete. Collective over MPI_COMM_WORLD. */
int64_t bc_sum_wrong(int64_t wrong, struct bc_outcome *outcome);
