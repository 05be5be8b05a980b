/*
 * MPI_Comm_spawn (MPI 3.1, section 10.3.2) of one process of the same program.
 *
 *   mpirun -np 1 spawn
 *
 * Exit status 0: it is there; 1: it isn't.
 *
 * MPICH 4.0.2 as Debian builds it: "Error in spawn call". Open MPI 4.1.4: right.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, child = MPI_COMM_NULL;
    int error = MPI_SUCCESS, count = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        error = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child,
                               MPI_ERRCODES_IGNORE);
        if (error == MPI_SUCCESS) {
            MPI_Comm_remote_size(child, &count);
            MPI_Comm_disconnect(&child);
        } else {
            char text[MPI_MAX_ERROR_STRING];
            int length;
            MPI_Error_string(error, text, &length);
            puts(text);
        }
    } else {
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return error != MPI_SUCCESS || count != 1;
}
