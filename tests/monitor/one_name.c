/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Fortran layer that has MPI_Barrier under one name, NAME (-DLAYER), and a program that calls it
 * three times. The program fails unless the layer gets all calls.
 */
#include <mpi.h>

void NAME(const MPI_Fint *comm, MPI_Fint *error);
extern int calls;

#ifdef LAYER
int calls;

void NAME(const MPI_Fint *comm, MPI_Fint *error)
{
    calls++;
    *error = (MPI_Fint)PMPI_Barrier(PMPI_Comm_f2c(*comm));
}
#else
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD);
    MPI_Fint errors[3];
    for (int i = 0; i < 3; i++)
        NAME(&world, &errors[i]);
    MPI_Finalize();
    return calls == 3 && errors[0] == 0 && errors[1] == 0 && errors[2] == 0 ? 0 : 1;
}
#endif
