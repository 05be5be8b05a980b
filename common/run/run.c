/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run/internal.h"

#include "common/mpi/harness.h"

double bc_run_usable_bytes(const struct bc_run *run, double share, bool in_windows)
{
    int64_t bytes = run->job.memory_per_rank;
    if (in_windows && run->job.shared_memory_per_rank < bytes)
        bytes = run->job.shared_memory_per_rank;
    return share * (double)bytes;
}

struct bc_summary bc_run_over_visits(const struct bc_run *run, const double *values, size_t count)
{
    const double confidence = run->settings.confidence_pct / 100.0;
    struct bc_summary mean = bc_mean_of_visits(values, count, confidence);
    if (run->settings.estimator == BC_MEAN)
        mean.interval = bc_mean_interval(values, count, confidence);
    return mean;
}

int64_t bc_sum_wrong(int64_t wrong, struct bc_outcome *outcome)
{
    int64_t sum = 0;
    bc_harness_reduce(&wrong, &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (sum > 0)
        outcome->status = BC_FAIL;
    return sum;
}
