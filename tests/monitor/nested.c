/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the program that MPI calls, and that call the same MPI function on another object.
 *
 *   nested c        makes the outer calls from C
 *   nested fortran  makes them from Fortran
 */
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

void mpi_comm_dup_(const MPI_Fint *comm, MPI_Fint *made, MPI_Fint *error);
void mpi_comm_free_(MPI_Fint *comm, MPI_Fint *error);
void mpi_win_free_(MPI_Fint *win, MPI_Fint *error);
void mpi_type_free_(MPI_Fint *type, MPI_Fint *error);
void mpi_wait_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *error);

static bool from_fortran;
static MPI_Fint error;

/* ---- outer calls ----------------------------------------------------------------------------- */

static void duplicate(MPI_Comm comm, MPI_Comm *made)
{
    const MPI_Fint handle = MPI_Comm_c2f(comm);
    MPI_Fint made_handle = 0;
    if (!from_fortran) {
        MPI_Comm_dup(comm, made);
        return;
    }
    mpi_comm_dup_(&handle, &made_handle, &error);
    *made = MPI_Comm_f2c(made_handle);
}

#define FREE(name, Kind, Type, fortran_name)                                                       \
    static void name(MPI_##Type *object)                                                           \
    {                                                                                              \
        MPI_Fint handle = MPI_##Kind##_c2f(*object);                                               \
        if (from_fortran)                                                                          \
            fortran_name(&handle, &error);                                                         \
        else                                                                                       \
            MPI_##Kind##_free(object);                                                             \
    }
FREE(free_comm, Comm, Comm, mpi_comm_free_)
FREE(free_win, Win, Win, mpi_win_free_)
FREE(free_type, Type, Datatype, mpi_type_free_)

static void wait_for(MPI_Request *request)
{
    MPI_Fint handle = MPI_Request_c2f(*request), status[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    if (from_fortran)
        mpi_wait_(&handle, status, &error);
    else
        MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* ---- functions that MPI calls ---------------------------------------------------------------- */

static MPI_Comm inner_comm;
static MPI_Win inner_win;
static MPI_Datatype inner_type;
static MPI_Request inner_request;

static int copy_comm(MPI_Comm comm, int key, void *unused, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)unused, (void)in, (void)out;
    *flag = 0;
    return MPI_Comm_dup(MPI_COMM_SELF, &inner_comm);
}

static int delete_comm(MPI_Comm comm, int key, void *unused, void *state)
{
    (void)comm, (void)key, (void)unused, (void)state;
    return MPI_Comm_free(&inner_comm);
}

static int delete_win(MPI_Win win, int key, void *unused, void *state)
{
    (void)win, (void)key, (void)unused, (void)state;
    return MPI_Win_free(&inner_win);
}

static int delete_type(MPI_Datatype type, int key, void *unused, void *state)
{
    (void)type, (void)key, (void)unused, (void)state;
    return MPI_Type_free(&inner_type);
}

static int query(void *unused, MPI_Status *status)
{
    (void)unused;
    MPI_Wait(&inner_request, MPI_STATUS_IGNORE);
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int free_request(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int cancel_request(void *unused, int complete)
{
    (void)unused, (void)complete;
    return MPI_SUCCESS;
}

static void comms(void)
{
    MPI_Comm outer, made;
    int key;
    MPI_Comm_dup(MPI_COMM_SELF, &outer);
    MPI_Comm_create_keyval(copy_comm, delete_comm, &key, NULL);
    MPI_Comm_set_attr(outer, key, NULL);
    duplicate(outer, &made);
    free_comm(&made);
    free_comm(&outer);
    MPI_Comm_free_keyval(&key);
}

static void wins(void)
{
    void *memory;
    MPI_Win outer;
    int key;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &outer);
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &inner_win);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, NULL);
    MPI_Win_set_attr(outer, key, NULL);
    MPI_Win_fence(0, inner_win);
    MPI_Put(&key, 1, MPI_INT, 0, 0, 1, MPI_INT, inner_win);
    MPI_Win_fence(0, inner_win);
    free_win(&outer);
    MPI_Win_free_keyval(&key);
}

static void types(void)
{
    MPI_Datatype outer;
    int key;
    MPI_Type_contiguous(2, MPI_INT, &outer);
    MPI_Type_contiguous(3, MPI_INT, &inner_type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &key, NULL);
    MPI_Type_set_attr(outer, key, NULL);
    free_type(&outer);
    MPI_Type_free_keyval(&key);
}

static void requests(void)
{
    static int message, sent;
    MPI_Request outer;
    MPI_Irecv(&message, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &inner_request);
    MPI_Send(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Grequest_start(query, free_request, cancel_request, NULL, &outer);
    MPI_Grequest_complete(outer);
    wait_for(&outer);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    from_fortran = argc > 1 && strcmp(argv[1], "fortran") == 0;
    for (int i = 0; i < 3; i++) {
        comms();
        wins();
        types();
        requests();
    }
    MPI_Finalize();
    return error != 0;
}
