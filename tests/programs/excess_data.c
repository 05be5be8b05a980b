/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers that move too much, for the test that pingpong notices: preloaded, each one moves
 * everything from its first value to its last, gaps included, and one value more.
 */
#include <mpi.h>

#include <stdbool.h>

/* The values that move instead of `count` of this type. */
static int excess(int count, MPI_Datatype type)
{
    MPI_Aint lower, extent;
    PMPI_Type_get_true_extent(type, &lower, &extent);
    return count > 0 ? count * (int)(extent / (MPI_Aint)sizeof(double)) + 1 : 0;
}

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_type, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Win win)
{
    return PMPI_Put(origin_addr, excess(origin_count, origin_type), MPI_DOUBLE, target_rank,
                    target_disp, excess(target_count, target_type), MPI_DOUBLE, win);
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_type, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Win win)
{
    return PMPI_Get(origin_addr, excess(origin_count, origin_type), MPI_DOUBLE, target_rank,
                    target_disp, excess(target_count, target_type), MPI_DOUBLE, win);
}

static bool is_data(int count, MPI_Datatype type) { return count > 0 && type == MPI_DOUBLE; }

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return PMPI_Send(buf, is_data(count, datatype) ? count + 1 : count, datatype, dest, tag, comm);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    return PMPI_Recv(buf, is_data(count, datatype) ? count + 1 : count, datatype, source, tag, comm,
                     status);
}
