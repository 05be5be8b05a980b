/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls exchange.f90. */
#include <mpi.h>

void exchange(void);

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    exchange();
    return MPI_Finalize();
}
