/* SPDX-License-Identifier: BSD-3-Clause */
/* Files, which keep nothing: a transfer takes MODEL_FILE_BYTE_NS for each byte. */
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"

static char opened; /* what all handles point to */

int PMPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    (void)comm, (void)name, (void)mode, (void)info;
    *file = (MPI_File)(void *)&opened;
    return MPI_SUCCESS;
}
MPI_NAME(File_open)

int PMPI_File_close(MPI_File *file)
{
    *file = MPI_FILE_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(File_close)

int PMPI_File_write_at(MPI_File file, MPI_Offset offset, const void *buffer, int count,
                       MPI_Datatype type, MPI_Status *status)
{
    (void)file, (void)offset, (void)buffer, (void)status;
    clock_spend(parameters.file_byte_ns * (double)bytes_of(count, type));
    return MPI_SUCCESS;
}
MPI_NAME(File_write_at)
