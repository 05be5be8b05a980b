/*
 * A library for LD_PRELOAD that counts handles: each MPI function of handles.def is
 * wrapped, under both its names, since the monitor's library calls PMPI_. A process that leaves
 * handles behind says which at the end of MPI_Finalize, and exits with status 1.
 *
 * Interposers stack: a wrapper calls the next definition under the same name. This one comes first.
 */
#include "ledger.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the functions after ours ---------------------------------------------------------------- */

struct next_mpi {
/* A declarator can't be in parentheses here. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define NEXT(Name) __typeof__(MPI_##Name) *Name;
#define MAKES(Name, ...) NEXT_OF(Name)
#define FREES(Name, ...) NEXT_OF(Name)
#define COMPLETES(Name, ...) NEXT_OF(Name)
#define NEXT_OF(Name) NEXT(Name)
    NEXT(Finalize)
#include "handles.def"
#undef NEXT
};

static struct next_mpi next_mpi, next_pmpi;

__attribute__((constructor)) static void find_next_definitions(void)
{
#define NEXT(Name)                                                                                 \
    next_mpi.Name = (__typeof__(next_mpi.Name))dlsym(RTLD_NEXT, "MPI_" #Name);                     \
    next_pmpi.Name = (__typeof__(next_pmpi.Name))dlsym(RTLD_NEXT, "PMPI_" #Name);
#define MAKES(Name, ...) NEXT_OF(Name)
#define FREES(Name, ...) NEXT_OF(Name)
#define COMPLETES(Name, ...) NEXT_OF(Name)
    NEXT(Finalize)
#include "handles.def"
#undef NEXT
#undef NEXT_OF
}

/* ---- handles that nobody has to free --------------------------------------------------------- */

/* A predefined handle, or none: what functions return that made nothing. */
static bool is_constant(enum handle_kind kind, const void *handle)
{
    switch (kind) {
    case COMMUNICATOR:
        return *(const MPI_Comm *)handle == MPI_COMM_NULL;
    case GROUP:
        return *(const MPI_Group *)handle == MPI_GROUP_NULL ||
               *(const MPI_Group *)handle == MPI_GROUP_EMPTY;
    case REQUEST:
        return *(const MPI_Request *)handle == MPI_REQUEST_NULL;
    default:
        return false;
    }
}

/* What the library does inside its own functions, which it calls as PMPI_. */
static bool is_library_itself(const char *function, const void *caller)
{
    Dl_info library, from;
    const void *its_finalize;
    memcpy(&its_finalize, &next_pmpi.Finalize, sizeof its_finalize);
    return function[0] == 'P' && dladdr(its_finalize, &library) != 0 &&
           dladdr(caller, &from) != 0 && library.dli_fbase == from.dli_fbase;
}

static void made(enum handle_kind kind, const void *handle, int size_bytes, const char *function,
                 const void *caller)
{
    if (!is_constant(kind, handle) && !is_library_itself(function, caller))
        ledger_made(kind, handle_number(handle, size_bytes), function, caller);
}

static void freed(enum handle_kind kind, const void *handle, int size_bytes, const char *function,
                  const void *caller)
{
    if (!is_constant(kind, handle) && !is_library_itself(function, caller))
        ledger_freed(kind, handle_number(handle, size_bytes), function, caller);
}

/* ---- wrappers -------------------------------------------------------------------------------- */

#define INTERPOSED __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)
#define SIZE(pointer) ((int)sizeof *(pointer))
#define UNDER_BOTH_NAMES(WRAPPER, Name, ...)                                                       \
    WRAPPER(MPI_##Name, next_mpi.Name, __VA_ARGS__)                                                \
    WRAPPER(PMPI_##Name, next_pmpi.Name, __VA_ARGS__)

#define MAKING(function, next, KIND, where, parameters, arguments)                                 \
    INTERPOSED int function parameters                                                             \
    {                                                                                              \
        const int error = next arguments;                                                          \
        if (error == MPI_SUCCESS)                                                                  \
            made(KIND, where, SIZE(where), #function, CALLER);                                     \
        return error;                                                                              \
    }

#define FREEING(function, next, KIND, where, parameters, arguments)                                \
    INTERPOSED int function parameters                                                             \
    {                                                                                              \
        const __typeof__(*(where)) old = *(where);                                                 \
        const int error = next arguments;                                                          \
        if (error == MPI_SUCCESS)                                                                  \
            freed(KIND, &old, SIZE(where), #function, CALLER);                                     \
        return error;                                                                              \
    }

/* A copy of requests, in `few` if it has the room. */
static MPI_Request *copy_requests(const MPI_Request *requests, int count, MPI_Request *few,
                                  int room)
{
    MPI_Request *const copy = count <= room ? few : malloc((size_t)count * sizeof *copy);
    if (copy == NULL) {
        (void)fputs("leaks: no memory\n", stderr);
        abort();
    }
    if (count > 0)
        memcpy(copy, requests, (size_t)count * sizeof *copy);
    return copy;
}

static void freed_requests(const MPI_Request *old, const MPI_Request *requests, int count,
                           const char *function, const void *caller)
{
    for (int i = 0; i < count; i++)
        if (requests[i] == MPI_REQUEST_NULL)
            freed(REQUEST, &old[i], SIZE(old), function, caller);
}

/* Also when it fails: MPI_ERR_IN_STATUS leaves some complete. */
#define COMPLETING(function, next, number, where, parameters, arguments)                           \
    INTERPOSED int function parameters                                                             \
    {                                                                                              \
        MPI_Request few[64];                                                                       \
        MPI_Request *const old = copy_requests(where, number, few, 64);                            \
        const int error = next arguments;                                                          \
        freed_requests(old, where, number, #function, CALLER);                                     \
        if (old != few)                                                                            \
            free(old);                                                                             \
        return error;                                                                              \
    }

#define MAKES(...) MAKES_EXPANDED(__VA_ARGS__)
#define MAKES_EXPANDED(...) UNDER_BOTH_NAMES(MAKING, __VA_ARGS__)
#define FREES(Name, ...) UNDER_BOTH_NAMES(FREEING, Name, __VA_ARGS__)
#define COMPLETES(Name, ...) UNDER_BOTH_NAMES(COMPLETING, Name, __VA_ARGS__)
#include "handles.def"

INTERPOSED int MPI_Finalize(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* MPI_Finalize may fail or wait for ever where one is left. */
    const int error = ledger_has(WINDOW) ? MPI_SUCCESS : next_mpi.Finalize();
    if (!ledger_report(rank))
        exit(1);
    return error;
}
