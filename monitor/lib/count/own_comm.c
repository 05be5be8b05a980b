/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/own_comm.h"

#include "common/mpi/mpi_check.h"

MPI_Comm own_comm_make(MPI_Comm of)
{
    MPI_Comm own = MPI_COMM_NULL;
    int rank;
    BC_MPI(PMPI_Comm_rank(of, &rank));
    if (PMPI_Comm_split(of, 0, rank, &own) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    BC_MPI(PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    return own;
}
