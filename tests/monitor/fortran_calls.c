/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer between a program in C and the monitor: it makes each call of a function of functions.def
 * as a Fortran program does. So all that the monitor counts in C programs can be compared with what
 * it counts of the same calls from Fortran, under each name and in each form. Linked with the MPI
 * library's Fortran layer and preloaded before the monitor.
 *
 * FORTRAN_CALLS has the form: "_", "__" and "upper" for the names of compilers, "f08" for those of
 * mpi_f08, "mixed" for every other call from C.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 20, FORTRAN_STATUS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

/* The beginning of a descriptor of ISO_Fortran_binding.h, of a scalar. */
struct descriptor {
    void *base_address;
    size_t element_bytes;
    int version;
    signed char rank, attribute, type[6];
};

enum back { COMM, WIN, REQUEST, MESSAGE, STATUS };

struct call {
    void *function;
    bool is_f08, is_ts, is_input; /* is_input: handles behind pointers are input */
    int count;
    void *arguments[SLOTS];
    /* Storage of the argument at the same place. */
    MPI_Fint integers[SLOTS];
    int64_t values[SLOTS];
    struct descriptor descriptors[SLOTS];
    MPI_Fint status[FORTRAN_STATUS];
    struct {
        enum back kind;
        int place;
        void *to;
    } back[4];
    int backs;
    size_t text_length;
};

static _Thread_local bool is_inside;

static const char *form(void)
{
    const char *const words = getenv("FORTRAN_CALLS");
    return words != NULL ? words : "_";
}

static void *find(const char *prefix, const char *name, bool is_upper, const char *suffix)
{
    char text[80];
    (void)snprintf(text, sizeof text, "%s%s", prefix, name);
    for (char *at = text; *at != '\0'; at++)
        *at = (char)(is_upper ? toupper(*at) : tolower(*at));
    (void)strncat(text, suffix, sizeof text - strlen(text) - 1);
    return dlsym(RTLD_DEFAULT, text);
}

/* Returns the function of this name if the MPI library has it, and so its name for tools. */
static void *symbol(const char *name, bool is_upper, const char *suffix)
{
    return find("PMPI_", name, is_upper, suffix) != NULL ||
                   find("PMPIR_", name, is_upper, suffix) != NULL
               ? find("MPI_", name, is_upper, suffix)
               : NULL;
}

static void *next_of(const char *name) { return dlsym(RTLD_NEXT, name); }

static void find_f08(struct call *call, const char *name, bool is_large)
{
    call->is_f08 = call->is_ts = true;
    call->function = symbol(name, false, is_large ? "_f08ts_large_" : "_f08ts_");
    if (call->function == NULL) {
        call->is_ts = false;
        call->function = symbol(name, false, is_large ? "_f08_large_" : "_f08_");
    }
}

/* Begins a call. False if it is one of the MPI library's, or to be made from C. */
static bool begin(struct call *call, const char *name, bool is_large)
{
    static _Thread_local int calls;
    memset(call, 0, sizeof *call);
    call->is_input = strstr(name, "free") != NULL || strstr(name, "disconnect") != NULL ||
                     strcmp(name, "Mrecv") == 0 || strcmp(name, "Imrecv") == 0;
    if (is_inside || (strcmp(form(), "mixed") == 0 && calls++ % 2 == 0))
        return false;
    if (strcmp(form(), "f08") == 0)
        find_f08(call, name, is_large);
    else if (!is_large)
        call->function = symbol(name, strcmp(form(), "upper") == 0,
                                strcmp(form(), "upper") == 0 ? ""
                                : strcmp(form(), "__") == 0  ? "__"
                                                             : "_");
    return call->function != NULL;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void put_address(struct call *call, const void *address)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    call->arguments[call->count++] = (void *)(uintptr_t)address;
}

static void put_int(struct call *call, int value)
{
    call->integers[call->count] = (MPI_Fint)value;
    put_address(call, &call->integers[call->count]);
}

static void put_value(struct call *call, int64_t value)
{
    call->values[call->count] = value;
    put_address(call, &call->values[call->count]);
}

static void note_back(struct call *call, enum back kind, void *to)
{
    call->back[call->backs].kind = kind;
    call->back[call->backs].place = call->count;
    call->back[call->backs++].to = to;
}

#define PLACE_OF(Type, Kind, name, BACK)                                                           \
    static void put_##name##_at(struct call *call, Type *handle)                                   \
    {                                                                                              \
        note_back(call, BACK, handle);                                                             \
        put_int(call, call->is_input && (BACK) != REQUEST ? (int)PMPI_##Kind##_c2f(*handle) : 0);  \
    }
#define HANDLE(Type, Kind, name, BACK)                                                             \
    static void put_##name(struct call *call, Type handle)                                         \
    {                                                                                              \
        put_int(call, (int)PMPI_##Kind##_c2f(handle));                                             \
    }                                                                                              \
    PLACE_OF(Type, Kind, name, BACK)
HANDLE(MPI_Comm, Comm, comm, COMM)
HANDLE(MPI_Win, Win, win, WIN)
HANDLE(MPI_Request, Request, request, REQUEST)
PLACE_OF(MPI_Message, Message, message, MESSAGE)

static void put_info(struct call *call, MPI_Info info) { put_int(call, PMPI_Info_c2f(info)); }
static void put_op(struct call *call, MPI_Op op) { put_int(call, PMPI_Op_c2f(op)); }
static void put_group(struct call *call, MPI_Group of) { put_int(call, PMPI_Group_c2f(of)); }
static void put_type(struct call *call, MPI_Datatype type) { put_int(call, PMPI_Type_c2f(type)); }
#if MPI_VERSION >= 4
static void put_errhandler(struct call *call, MPI_Errhandler handler)
{
    put_int(call, PMPI_Errhandler_c2f(handler));
}
#endif

/* Returns the address that stands for a constant of Fortran. */
static void *constant(const struct call *call, const char *of_f08, const char *pointer,
                      const char *variable)
{
    void *found = call->is_f08 ? dlsym(RTLD_DEFAULT, of_f08) : NULL;
    if (found == NULL)
        found = dlsym(RTLD_DEFAULT, variable);
    if (found != NULL)
        return found;
    found = dlsym(RTLD_DEFAULT, pointer);
    return found != NULL ? *(void **)found : NULL;
}

static void put_buffer(struct call *call, const void *buffer)
{
    const void *const address = buffer == MPI_IN_PLACE
                                    ? constant(call, "MPIR_F08_MPI_IN_PLACE", "MPIR_F_MPI_IN_PLACE",
                                               "mpi_fortran_in_place_")
                                    : buffer;
    struct descriptor *const descriptor = &call->descriptors[call->count];
    *descriptor = (struct descriptor){/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
                                      .base_address = (void *)(uintptr_t)address,
                                      .element_bytes = 1,
                                      .version = 1};
    put_address(call, call->is_ts ? (const void *)descriptor : address);
}

static void put_status(struct call *call, MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE) {
        put_address(call, constant(call, "MPIR_F08_MPI_STATUS_IGNORE_OBJ", "MPI_F_STATUS_IGNORE",
                                   "mpi_fortran_status_ignore_"));
        return;
    }
    note_back(call, STATUS, status);
    put_address(call, call->status);
}

/* A string and its length, which comes last. */
static void put_text(struct call *call, const char *text)
{
    call->text_length = strlen(text);
    put_address(call, text);
}

static void status_from(const struct call *call, const MPI_Fint *from, MPI_Status *to)
{
    if (call->is_f08)
        memcpy(to, from, sizeof *to);
    else
        PMPI_Status_f2c(from, to);
}

static void take_back(const struct call *call, int i)
{
    void *const to = call->back[i].to;
    const MPI_Fint integer = call->integers[call->back[i].place];
    switch (call->back[i].kind) {
    case COMM:
        *(MPI_Comm *)to = PMPI_Comm_f2c(integer);
        break;
    case WIN:
        *(MPI_Win *)to = PMPI_Win_f2c(integer);
        break;
    case REQUEST:
        *(MPI_Request *)to = PMPI_Request_f2c(integer);
        break;
    case MESSAGE:
        *(MPI_Message *)to = PMPI_Message_f2c(integer);
        break;
    case STATUS:
        status_from(call, call->status, to);
        break;
    }
}

/* Calls the Fortran function. */
static int finish(struct call *call)
{
    MPI_Fint error = MPI_SUCCESS;
    void **const a = call->arguments;
    a[call->count] = &error;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    a[call->count + 1] = (void *)call->text_length;
    is_inside = true;
    ((void (*)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
               void *, void *, void *, void *, void *, void *))call->function)(
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
        a[14], a[15]);
    is_inside = false;
    for (int i = 0; i < call->backs && error == MPI_SUCCESS; i++)
        take_back(call, i);
    return (int)error;
}

/* MPICH's handles are integers, as Fortran's are. */
#ifdef OPEN_MPI
/* Datatypes of blocks. Non-blocking collectives read them later. */
static void put_types(struct call *call, const MPI_Datatype *types)
{
    enum { KEPT = 64, BLOCKS = 2 };
    static MPI_Fint kept[KEPT][BLOCKS];
    static int last;
    last = (last + 1) % KEPT;
    for (int i = 0; i < BLOCKS; i++)
        kept[last][i] = PMPI_Type_c2f(types[i]);
    put_address(call, kept[last]);
}
#define CASE_OF_TYPES const MPI_Datatype * : put_types,
#else
#define CASE_OF_TYPES
#endif

/* ---- the functions of functions.def ---------------------------------------------------------- */

#define FIRST(a, ...) a
#define REST(a, ...) __VA_ARGS__
#define FIRST_OF(...) FIRST(__VA_ARGS__)
#define JOINED(a, b) JOINED_(a, b)
#define JOINED_(a, b) a##b
#define UNPACK(...) __VA_ARGS__
#define AT_14(a, b, c, d, e, f, g, h, i, j, k, l, m, n, ...) n
#define COUNT_OF(...) AT_14(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PUT_1(P, A) PUT(FIRST P, FIRST A)
#define PUT_2(P, A) PUT(FIRST P, FIRST A) PUT_1((REST P), (REST A))
#define PUT_3(P, A) PUT(FIRST P, FIRST A) PUT_2((REST P), (REST A))
#define PUT_4(P, A) PUT(FIRST P, FIRST A) PUT_3((REST P), (REST A))
#define PUT_5(P, A) PUT(FIRST P, FIRST A) PUT_4((REST P), (REST A))
#define PUT_6(P, A) PUT(FIRST P, FIRST A) PUT_5((REST P), (REST A))
#define PUT_7(P, A) PUT(FIRST P, FIRST A) PUT_6((REST P), (REST A))
#define PUT_8(P, A) PUT(FIRST P, FIRST A) PUT_7((REST P), (REST A))
#define PUT_9(P, A) PUT(FIRST P, FIRST A) PUT_8((REST P), (REST A))
#define PUT_10(P, A) PUT(FIRST P, FIRST A) PUT_9((REST P), (REST A))
#define PUT_11(P, A) PUT(FIRST P, FIRST A) PUT_10((REST P), (REST A))
#define PUT_12(P, A) PUT(FIRST P, FIRST A) PUT_11((REST P), (REST A))
#define PUT_13(P, A) PUT(FIRST P, FIRST A) PUT_12((REST P), (REST A))
#define PUT(P, A) PUT_BY_KIND(P, A)
#define PUT_BY_KIND(P, A) JOINED(PUT_, FIRST_OF(KIND_OF_##P))(A);

#define OR_ADDRESS(Type, A, put_it) _Generic((A), Type : put_it, default : put_address)(&call, A)
#define OR_PLACE(Type, A, put_it) _Generic((A), Type : put_it, default : put_it##_at)(&call, A)
#define KIND_OF_int INT,
#define PUT_INT(A) OR_ADDRESS(int, A, put_int)
#define KIND_OF_MPI_Count LARGE,
#define PUT_LARGE(A) OR_ADDRESS(MPI_Count, A, put_value)
#define KIND_OF_MPI_Aint PLACE,
#define PUT_PLACE(A) OR_ADDRESS(MPI_Aint, A, put_value)
#define KIND_OF_MPI_Offset OFFSET,
#define PUT_OFFSET(A) OR_ADDRESS(MPI_Offset, A, put_value)
#define KIND_OF_MPI_Comm COMM_HANDLE,
#define PUT_COMM_HANDLE(A) OR_PLACE(MPI_Comm, A, put_comm)
#define KIND_OF_MPI_Win WIN_HANDLE,
#define PUT_WIN_HANDLE(A) OR_PLACE(MPI_Win, A, put_win)
#define KIND_OF_MPI_Request REQUEST_HANDLE,
#define PUT_REQUEST_HANDLE(A) OR_PLACE(MPI_Request, A, put_request)
#define KIND_OF_MPI_Message MESSAGE_HANDLE,
#define PUT_MESSAGE_HANDLE(A) put_message_at(&call, A)
#define KIND_OF_MPI_Datatype TYPE,
#define PUT_TYPE(A) OR_ADDRESS(MPI_Datatype, A, put_type)
#define KIND_OF_MPI_Info INFO,
#define PUT_INFO(A) put_info(&call, A)
#define KIND_OF_MPI_Op OP,
#define PUT_OP(A) put_op(&call, A)
#define KIND_OF_MPI_Group GROUP,
#define PUT_GROUP(A) put_group(&call, A)
#define KIND_OF_MPI_Errhandler ERRHANDLER,
#define PUT_ERRHANDLER(A) put_errhandler(&call, A)
#define KIND_OF_MPI_Status STATUS_PLACE,
#define PUT_STATUS_PLACE(A) put_status(&call, A)
#define KIND_OF_void BUFFER,
#define KIND_OF_const BUFFER,
#define PUT_BUFFER(A)                                                                              \
    _Generic((A), CASE_OF_TYPES void *                                                             \
             : put_buffer, const void *                                                            \
             : put_buffer, const char *                                                            \
             : put_text, default                                                                   \
             : put_address)(&call, A)

#define CALL_OF(Name, is_large, symbol_name, parameters, arguments)                                \
    int symbol_name parameters                                                                     \
    {                                                                                              \
        struct call call;                                                                          \
        if (!begin(&call, #Name, is_large))                                                        \
            return ((__typeof__(&symbol_name))next_of(#symbol_name))arguments;                     \
        JOINED(PUT_, COUNT_OF arguments)(parameters, arguments) return finish(&call);              \
    }

#define SEND(Name, parameters, arguments, ...) FUNCTION(Name, parameters, arguments)
#define WITH_STATUS(Name, parameters, arguments, ...)                                              \
    FUNCTION(Name, (UNPACK parameters, MPI_Status * status), (UNPACK arguments, status))
#define WITH_REQUEST(Name, parameters, arguments, ...)                                             \
    FUNCTION(Name, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request))
#define RECEIVE WITH_STATUS
#define MESSAGE WITH_REQUEST
#define PERSISTENT WITH_REQUEST
#define MATCHED_RECEIVE WITH_STATUS
#define MATCHED_START WITH_REQUEST
#define MATCHED_PROBE(Name, is_found, parameters, arguments) FUNCTION(Name, parameters, arguments)
#if MPI_VERSION >= 4
#define PERSISTENT_COLLECTIVE(Name, parameters, arguments)                                         \
    FUNCTION(Name, (UNPACK parameters, MPI_Info info, MPI_Request * request),                      \
             (UNPACK arguments, info, request))
#else
#define PERSISTENT_COLLECTIVE(Name, parameters, arguments)
#endif
#define COLLECTIVE(Name, Nonblocking, parameters, arguments, ...)                                  \
    FUNCTION(Name, parameters, arguments)                                                          \
    WITH_REQUEST(Nonblocking, parameters, arguments)                                               \
    PERSISTENT_COLLECTIVE(Name##_init, parameters, arguments)
#define ONE_SIDED(Name, parameters, arguments, ...) FUNCTION(Name, parameters, arguments)
#define ONE_SIDED_REQUEST WITH_REQUEST
#define WINDOW_CREATION(Name, comm, win, parameters, arguments)                                    \
    FUNCTION(Name, parameters, arguments)
#define CREATION WINDOW_CREATION
#define DUPLICATION(Name, comm, newcomm, request, parameters, arguments)                           \
    FUNCTION(Name, parameters, arguments)
#define REMEMBERED(Name, parameters, arguments, ...) FUNCTION(Name, parameters, arguments)
#define SYNCHRONISATION(Name, win, target, parameters, arguments)                                  \
    FUNCTION(Name, parameters, arguments)
#define CALL(Name, communicator, parameters, arguments) FUNCTION(Name, parameters, arguments)
#define FREEING(Name, comm, parameters, arguments) FUNCTION(Name, parameters, arguments)
#define CLOSING(Name, win, is_observed, closed, parameters, arguments)                             \
    FUNCTION(Name, parameters, arguments)
/* Made from C: what counts for no communicator. */
#define FILE_CALL(...)
#define FILE_START(...)
#define OTHER(...)
#define DATATYPE(...)
#define ANY_THREAD(...)
#define BY_HAND(...)
#define BY_HAND_OTHER(...)
#define ROW(KIND, ...) KIND(__VA_ARGS__)

#define KIND_OF_char TEXTS,
#define PUT_TEXTS(A) put_address(&call, A)

#define LARGE_COUNTS 0
#define COUNT int
#define DISPLACEMENT int
#define ADDRESS MPI_Aint
#define FUNCTION(Name, parameters, arguments)                                                      \
    CALL_OF(Name, false, MPI_##Name, parameters, arguments)
#include "monitor/lib/count/names.h"
#include "monitor/lib/count/functions.def"

#if MPI_VERSION >= 4
#undef COUNT
#undef DISPLACEMENT
#undef ADDRESS
#undef FUNCTION
#define LARGE_COUNTS 1
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define ADDRESS MPI_Count
#define ROW(KIND, ...) KIND(__VA_ARGS__)
#define FUNCTION(Name, parameters, arguments)                                                      \
    CALL_OF(Name, true, MPI_##Name##_c, parameters, arguments)
#include "monitor/lib/count/functions.def"
#endif

/* ---- by hand --------------------------------------------------------------------------------- */

#define NEXT(Name) ((__typeof__(&MPI_##Name))next_of("MPI_" #Name))

int MPI_Init(int *argc, char ***argv)
{
    struct call call;
    return begin(&call, "Init", false) ? finish(&call) : NEXT(Init)(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct call call;
    if (!begin(&call, "Init_thread", false))
        return NEXT(Init_thread)(argc, argv, required, provided);
    put_int(&call, required);
    put_address(&call, provided);
    return finish(&call);
}

int MPI_Finalize(void)
{
    struct call call;
    return begin(&call, "Finalize", false) ? finish(&call) : NEXT(Finalize)();
}

int MPI_Pcontrol(const int level, ...)
{
    struct call call;
    if (!begin(&call, "Pcontrol", false))
        return NEXT(Pcontrol)(level);
    put_int(&call, level);
    return finish(&call);
}

/* Requests, statuses and indices as Fortran has them. */
static _Thread_local MPI_Fint many_requests[1 << 17], many_statuses[1 << 17];

static void put_requests(struct call *call, int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        many_requests[i] = PMPI_Request_c2f(requests[i]);
    put_address(call, many_requests);
}

static void put_statuses(struct call *call, const MPI_Status *statuses, bool is_one)
{
    if (is_one && statuses == MPI_STATUS_IGNORE)
        put_address(call, constant(call, "MPIR_F08_MPI_STATUS_IGNORE_OBJ", "MPI_F_STATUS_IGNORE",
                                   "mpi_fortran_status_ignore_"));
    else if (!is_one && statuses == MPI_STATUSES_IGNORE)
        put_address(call, constant(call, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ",
                                   "MPI_F_STATUSES_IGNORE", "mpi_fortran_statuses_ignore_"));
    else
        put_address(call, many_statuses);
}

/* Calls the function and takes the results back. It has set `returned` statuses (NULL: all). */
static int complete(struct call *call, int count, MPI_Request *requests, MPI_Status *statuses,
                    const int *returned)
{
    const int error = finish(call);
    for (int i = 0; i < count; i++)
        requests[i] = PMPI_Request_f2c(many_requests[i]);
    const int filled = returned != NULL ? *returned : count;
    for (int i = 0; statuses != MPI_STATUSES_IGNORE && statuses != MPI_STATUS_IGNORE && i < filled;
         i++)
        status_from(call, &many_statuses[(size_t)i * FORTRAN_STATUS], &statuses[i]);
    return error;
}

/* MPICH 4.0's mpi_f08 does so itself. */
static void count_from_zero(const struct call *call, int *indices, int count)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
    if (call->is_f08)
        return;
#endif
    (void)call;
    for (int i = 0; i < count; i++)
        if (indices[i] != MPI_UNDEFINED)
            indices[i]--;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct call call;
    if (!begin(&call, "Wait", false))
        return NEXT(Wait)(request, status);
    put_requests(&call, 1, request);
    put_statuses(&call, status, true);
    return complete(&call, 1, request, status, NULL);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct call call;
    if (!begin(&call, "Test", false))
        return NEXT(Test)(request, flag, status);
    put_requests(&call, 1, request);
    put_address(&call, flag);
    put_statuses(&call, status, true);
    return complete(&call, 1, request, status, flag);
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct call call;
    if (!begin(&call, "Request_get_status", false))
        return NEXT(Request_get_status)(request, flag, status);
    put_requests(&call, 1, &request);
    put_address(&call, flag);
    put_statuses(&call, status, true);
    return complete(&call, 1, &request, status, flag);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct call call;
    if (!begin(&call, "Waitall", false))
        return NEXT(Waitall)(count, requests, statuses);
    put_int(&call, count);
    put_requests(&call, count, requests);
    put_statuses(&call, statuses, false);
    return complete(&call, count, requests, statuses, NULL);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct call call;
    if (!begin(&call, "Testall", false))
        return NEXT(Testall)(count, requests, flag, statuses);
    put_int(&call, count);
    put_requests(&call, count, requests);
    put_address(&call, flag);
    put_statuses(&call, statuses, false);
    const int error = complete(&call, count, requests, MPI_STATUSES_IGNORE, NULL);
    for (int i = 0; *flag != 0 && statuses != MPI_STATUSES_IGNORE && i < count; i++)
        status_from(&call, &many_statuses[(size_t)i * FORTRAN_STATUS], &statuses[i]);
    return error;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    const int one = 1;
    struct call call;
    if (!begin(&call, "Waitany", false))
        return NEXT(Waitany)(count, requests, index, status);
    put_int(&call, count);
    put_requests(&call, count, requests);
    put_address(&call, index);
    put_statuses(&call, status, true);
    const int error = complete(&call, count, requests, status, &one);
    count_from_zero(&call, index, 1);
    return error;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct call call;
    if (!begin(&call, "Testany", false))
        return NEXT(Testany)(count, requests, index, flag, status);
    put_int(&call, count);
    put_requests(&call, count, requests);
    put_address(&call, index);
    put_address(&call, flag);
    put_statuses(&call, status, true);
    const int error = complete(&call, count, requests, status, flag);
    count_from_zero(&call, index, *flag != 0);
    return error;
}

#define SOME(Name)                                                                                 \
    int MPI_##Name(int count, MPI_Request requests[], int *completed, int indices[],               \
                   MPI_Status statuses[])                                                          \
    {                                                                                              \
        struct call call;                                                                          \
        if (!begin(&call, #Name, false))                                                           \
            return NEXT(Name)(count, requests, completed, indices, statuses);                      \
        put_int(&call, count);                                                                     \
        put_requests(&call, count, requests);                                                      \
        put_address(&call, completed);                                                             \
        put_address(&call, indices);                                                               \
        put_statuses(&call, statuses, false);                                                      \
        const int error = complete(&call, count, requests, statuses, completed);                   \
        count_from_zero(&call, indices, *completed);                                               \
        return error;                                                                              \
    }
SOME(Waitsome)
SOME(Testsome)

#define ON_REQUEST(Name)                                                                           \
    int MPI_##Name(MPI_Request *request)                                                           \
    {                                                                                              \
        struct call call;                                                                          \
        if (!begin(&call, #Name, false))                                                           \
            return NEXT(Name)(request);                                                            \
        put_requests(&call, 1, request);                                                           \
        return complete(&call, 1, request, MPI_STATUSES_IGNORE, NULL);                             \
    }
ON_REQUEST(Start)
ON_REQUEST(Cancel)
ON_REQUEST(Request_free)

int MPI_Startall(int count, MPI_Request requests[])
{
    struct call call;
    if (!begin(&call, "Startall", false))
        return NEXT(Startall)(count, requests);
    put_int(&call, count);
    put_requests(&call, count, requests);
    return complete(&call, count, requests, MPI_STATUSES_IGNORE, NULL);
}
