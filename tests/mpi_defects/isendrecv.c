/*
 * MPI_Isendrecv and MPI_Isendrecv_replace (MPI 4.0, section 3.10) of a process with itself and with
 * nobody.
 *
 *   mpirun -np 1 isendrecv status     does the status tell how much came? (3.7.3: as that of a
 * receive) mpirun -np 1 isendrecv nobody     to and from MPI_PROC_NULL, which has no effect (3.10)
 *   mpirun -np 1 isendrecv replace    MPI_Isendrecv_replace of a derived datatype
 *
 * Exit status 0: right; 1: wrong; 77: this library has no such function.
 *
 * MPICH 4.0.2: the status says 0 bytes; with nobody it dies or never returns; a derived datatype
 * ends in an assertion of the library's own or a segmentation fault. Open MPI 4.1.4: has neither
 * function.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4

static int is_status_wrong(void)
{
    int sent = 1, received = 0, count = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_Isendrecv(&sent, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    if (count != 1)
        printf("received %d, the status says %d values\n", received, count);
    return count != 1 || received != 1;
}

static int is_nobody_wrong(void)
{
    int sent = 1, received = 2;
    MPI_Request request;
    MPI_Isendrecv(&sent, 1, MPI_INT, MPI_PROC_NULL, 0, &received, 1, MPI_INT, MPI_PROC_NULL, 0,
                  MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return received != 2;
}

static int is_replace_wrong(void)
{
    int values[4] = {1, 2, 3, 4};
    MPI_Datatype type;
    MPI_Request request;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Isendrecv_replace(values, 1, type, 0, 0, 0, 0, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    return values[0] != 1 || values[2] != 3;
}

#endif

int main(int argc, char **argv)
{
    int wrong = 77;
    MPI_Init(&argc, &argv);
#if MPI_VERSION >= 4
    const char *const what = argc > 1 ? argv[1] : "status";
    wrong = strcmp(what, "nobody") == 0    ? is_nobody_wrong()
            : strcmp(what, "replace") == 0 ? is_replace_wrong()
                                           : is_status_wrong();
#endif
    MPI_Finalize();
    return wrong;
}
