/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Renames the MPI calls of common/ in the monitor's library to PMPI_, so neither the monitor nor
 * another interposer takes them for the program's. Included before their sources.
 */
#include <mpi.h>

#define MPI_Abort PMPI_Abort
#define MPI_Allreduce PMPI_Allreduce
#define MPI_Barrier PMPI_Barrier
#define MPI_Bcast PMPI_Bcast
#define MPI_Comm_dup PMPI_Comm_dup
#define MPI_Comm_free PMPI_Comm_free
#define MPI_Comm_rank PMPI_Comm_rank
#define MPI_Comm_size PMPI_Comm_size
#define MPI_Comm_split PMPI_Comm_split
#define MPI_Comm_split_type PMPI_Comm_split_type
#define MPI_Error_string PMPI_Error_string
#define MPI_Finalized PMPI_Finalized
#define MPI_Gather PMPI_Gather
#define MPI_Get_library_version PMPI_Get_library_version
#define MPI_Get_processor_name PMPI_Get_processor_name
#define MPI_Get_version PMPI_Get_version
#define MPI_Initialized PMPI_Initialized
#define MPI_Recv PMPI_Recv
#define MPI_Reduce PMPI_Reduce
#define MPI_Send PMPI_Send
#define MPI_Wtime PMPI_Wtime
