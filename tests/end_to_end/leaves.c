/*
 * Makes two handles of a kind and frees one of them, or both: does the library of wrappers see what
 * is left?
 *
 * usage: leaves KIND [free]      KIND as in ledger.h, or one of the cases below
 *
 * Exit status 77: the MPI library has nothing of this kind.
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

static void ignore_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}
static void make_error_handler(MPI_Errhandler *made)
{
    MPI_Comm_create_errhandler(ignore_error, made);
}
static void free_error_handler(MPI_Errhandler *made) { MPI_Errhandler_free(made); }

/* In a library that was built without MPI-IO these functions fail, or there are none. */
#if HAS_MPI_IO
static int open_file(MPI_File *made)
{
    return MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, made);
}
static void free_file(MPI_File *made) { MPI_File_close(made); }
#else
static int open_file(MPI_File *made)
{
    *made = MPI_FILE_NULL;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
static void free_file(MPI_File *made) { (void)made; }
#endif
static void make_file(MPI_File *made) { (void)open_file(made); }
static int has_files(void)
{
    MPI_File file;
    if (open_file(&file) != MPI_SUCCESS)
        return 0;
    free_file(&file);
    return 1;
}

static void make_group(MPI_Group *made) { MPI_Comm_group(MPI_COMM_WORLD, made); }
static void free_group(MPI_Group *made) { MPI_Group_free(made); }

static void make_info(MPI_Info *made) { MPI_Info_create(made); }
static void free_info(MPI_Info *made) { MPI_Info_free(made); }

static void make_keyval(int *made)
{
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, made, NULL);
}
static void free_keyval(int *made) { MPI_Comm_free_keyval(made); }

static int value, result;

/* A message to itself, whose send is completed once it has been received. */
static MPI_Request sends[2];
static int sent, received; /* so far */

static void make_message(MPI_Message *made)
{
    MPI_Isend(&value, 1, MPI_INT, 0, sent, MPI_COMM_SELF, &sends[sent]);
    MPI_Mprobe(0, sent, MPI_COMM_SELF, made, MPI_STATUS_IGNORE);
    sent++;
}
static void free_message(MPI_Message *made)
{
    MPI_Mrecv(&result, 1, MPI_INT, made, MPI_STATUS_IGNORE);
    MPI_Wait(&sends[received++], MPI_STATUS_IGNORE);
}

static void make_memory(void **made) { MPI_Alloc_mem(100, MPI_INFO_NULL, (void *)made); }
static void free_memory(void **made) { MPI_Free_mem(*made); }

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((const int *)in)[i];
}
static void make_op(MPI_Op *made) { MPI_Op_create(add, 1, made); }
static void free_op(MPI_Op *made) { MPI_Op_free(made); }

static void make_request(MPI_Request *made) { MPI_Ibarrier(MPI_COMM_SELF, made); }
static void free_request(MPI_Request *made) { MPI_Wait(made, MPI_STATUS_IGNORE); }

static void make_persistent(MPI_Request *made)
{
    MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, made);
}
static void free_persistent(MPI_Request *made) { MPI_Request_free(made); }

static void make_window(MPI_Win *made)
{
    int *base;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&base, made);
}
static void free_window(MPI_Win *made) { MPI_Win_free(made); }

/* A datatype that a delete callback of MPI_COMM_SELF frees, inside MPI_Finalize. */
static int free_attribute(MPI_Comm comm, int keyval, void *attribute, void *state)
{
    (void)comm;
    (void)keyval;
    (void)state;
    MPI_Type_free(attribute);
    free(attribute);
    return MPI_SUCCESS;
}
static void make_attribute(int *made)
{
    MPI_Datatype *const type = malloc(sizeof *type);
    if (type == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    make_datatype(type);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_attribute, made, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, *made, type);
}

/* Handles of a function that is not in the table. */
static void make_unknown(MPI_Datatype *made)
{
    int count = 0;
    MPI_Aint place = 0;
    MPI_Datatype vector, twin;
    make_datatype(&vector);
    MPI_Type_dup(vector, &twin);
    MPI_Type_get_contents(twin, 0, 0, 1, &count, &place, made);
    MPI_Type_free(&twin);
    MPI_Type_free(&vector);
}

#define CASES(CASE)                                                                                \
    CASE("communicator", MPI_Comm, make_communicator, free_communicator)                           \
    CASE("datatype", MPI_Datatype, make_datatype, free_datatype)                                   \
    CASE("error handler", MPI_Errhandler, make_error_handler, free_error_handler)                  \
    CASE("file", MPI_File, make_file, free_file)                                                   \
    CASE("group", MPI_Group, make_group, free_group)                                               \
    CASE("info", MPI_Info, make_info, free_info)                                                   \
    CASE("keyval", int, make_keyval, free_keyval)                                                  \
    CASE("message", MPI_Message, make_message, free_message)                                       \
    CASE("memory", void *, make_memory, free_memory)                                               \
    CASE("op", MPI_Op, make_op, free_op)                                                           \
    CASE("request", MPI_Request, make_request, free_request)                                       \
    CASE("persistent request", MPI_Request, make_persistent, free_persistent)                      \
    CASE("window", MPI_Win, make_window, free_window)                                              \
    CASE("attribute", int, make_attribute, free_keyval)                                            \
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
    const int lacks_kind = argc > 1 && strcmp(argv[1], "file") == 0 && !has_files();
    if (argc > 1 && !lacks_kind)
        leave(argv[1], argc > 2 ? 2 : 1);
    MPI_Finalize();
    return lacks_kind ? 77 : 0;
}
