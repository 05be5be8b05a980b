#include "common/run/check.h"

#include "common/mpi/harness.h"

int64_t bc_sum_wrong(int64_t wrong, struct bc_outcome *outcome)
{
    int64_t sum = 0;
    bc_harness_reduce(&wrong, &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (sum > 0)
        outcome->status = BC_FAIL;
    return sum;
}
