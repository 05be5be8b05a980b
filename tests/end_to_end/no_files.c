/*
 * For a program to be preloaded with: an MPI library whose MPI-IO can't open anything.
 */
#include <mpi.h>

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *file)
{
    (void)comm, (void)filename, (void)amode, (void)info;
    *file = MPI_FILE_NULL;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
