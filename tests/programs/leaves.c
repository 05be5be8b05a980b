/*
 * Makes two handles of a kind and frees one of them, or both: does the library of wrappers see what
 * is left?
 *
 * usage: leaves KIND [free]      KIND as in ledger.h, or one of the cases below
 */
#include "ledger.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make_communicator(MPI_Comm *made)
{
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made);
}
static void free_communicator(MPI_Comm *made) { MPI_Comm_free(made); }

static void make_datatype(MPI_Datatype *made) { MPI_Type_vector(2, 1, 3, MPI_INT, made); }
static void free_datatype(MPI_Datatype *made) { MPI_Type_free(made); }

static void make_handler(MPI_Errhandler *made) { MPI_Comm_get_errhandler(MPI_COMM_WORLD, made); }
static void free_handler(MPI_Errhandler *made) { MPI_Errhandler_free(made); }

static void make_group(MPI_Group *made) { MPI_Comm_group(MPI_COMM_WORLD, made); }
static void free_group(MPI_Group *made) { MPI_Group_free(made); }

static void make_info(MPI_Info *made) { MPI_Comm_get_info(MPI_COMM_WORLD, made); }
static void free_info(MPI_Info *made) { MPI_Info_free(made); }

static void make_request(MPI_Request *made) { MPI_Ibarrier(MPI_COMM_SELF, made); }
static void free_request(MPI_Request *made) { MPI_Wait(made, MPI_STATUS_IGNORE); }

static void make_persistent(MPI_Request *made)
{
    static int value;
    MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, made);
}
static void free_persistent(MPI_Request *made) { MPI_Request_free(made); }

static void make_window(MPI_Win *made)
{
    int *base;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&base, made);
}
static void free_window(MPI_Win *made) { MPI_Win_free(made); }

/* By a function that is not in the table. */
static void make_unknown(MPI_Datatype *made) { MPI_Type_create_resized(MPI_INT, 0, 8, made); }

#define CASES(CASE)                                                                                \
    CASE("communicator", MPI_Comm, make_communicator, free_communicator)                           \
    CASE("datatype", MPI_Datatype, make_datatype, free_datatype)                                   \
    CASE("error handler", MPI_Errhandler, make_handler, free_handler)                              \
    CASE("group", MPI_Group, make_group, free_group)                                               \
    CASE("info", MPI_Info, make_info, free_info)                                                   \
    CASE("request", MPI_Request, make_request, free_request)                                       \
    CASE("persistent request", MPI_Request, make_persistent, free_persistent)                      \
    CASE("window", MPI_Win, make_window, free_window)                                              \
    CASE("unknown", MPI_Datatype, make_unknown, free_datatype)

/* Makes two, frees one or both. */
static void leave(const char *kind, int frees)
{
#define CASE(name, type, make, release)                                                            \
    if (strcmp(kind, name) == 0) {                                                                 \
        type made[2];                                                                              \
        for (int i = 0; i < 2; i++) {                                                              \
            make(&made[i]);                                                                        \
            if (i < frees)                                                                         \
                release(&made[i]);                                                                 \
        }                                                                                          \
        return;                                                                                    \
    }
    CASES(CASE)
#undef CASE
    (void)fprintf(stderr, "leaves: no such kind: %s\n", kind);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 1)
        leave(argv[1], argc > 2 ? 2 : 1);
    MPI_Finalize();
    return 0;
}
