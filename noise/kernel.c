/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mpi/mpi_check.h"
#include "noise/noise.h"

void noise_quanta(uint64_t units, int count, int64_t *readings_ns)
{
    readings_ns[0] = bc_now_ns();
    for (int i = 1; i <= count; i++) {
        bc_work(units);
        readings_ns[i] = bc_now_ns();
    }
}

void noise_barrier_steps(uint64_t units, int count, int64_t *readings_ns)
{
    readings_ns[0] = bc_now_ns();
    for (int i = 1; i <= count; i++) {
        bc_work(units);
        BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
        readings_ns[i] = bc_now_ns();
    }
}

void noise_allreduce_steps(uint64_t units, int count, int64_t *readings_ns)
{
    const double own = 1.0;
    double sum;
    readings_ns[0] = bc_now_ns();
    for (int i = 1; i <= count; i++) {
        bc_work(units);
        BC_MPI(MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        readings_ns[i] = bc_now_ns();
    }
}
