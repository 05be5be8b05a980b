/* SPDX-License-Identifier: BSD-3-Clause */
/* A layer under the monitor, as of an MPI library that was built for 8-byte default integers. */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    int (*const type_size)(MPI_Datatype, int *) =
        (int (*)(MPI_Datatype, int *))dlsym(RTLD_NEXT, "PMPI_Type_size");
    const int error = type_size(datatype, size);
    if (datatype == MPI_INTEGER)
        *size = 8;
    return error;
}
