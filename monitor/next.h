/*
 * The definitions after ours. Interposers stack: each calls the next definition of an MPI function,
 * which may be another interposer's, and only the last one is the library's. What the monitor
 * itself asks MPI goes to PMPI_.
 */
#ifndef MONITOR_NEXT_H
#define MONITOR_NEXT_H

#include <mpi.h>

/* Marks what the library defines for programs; everything else stays invisible to them. */
#define INTERPOSED __attribute__((visibility("default")))

/* The functions that are not in functions.def. */
#define OTHER_FUNCTIONS(X)                                                                         \
    X(Init)                                                                                        \
    X(Init_thread)                                                                                 \
    X(Finalize)                                                                                    \
    X(Wait)                                                                                        \
    X(Waitall)                                                                                     \
    X(Waitany)                                                                                     \
    X(Waitsome)                                                                                    \
    X(Test)                                                                                        \
    X(Testall)                                                                                     \
    X(Testany)                                                                                     \
    X(Testsome)                                                                                    \
    X(Request_get_status)                                                                          \
    X(Request_free)                                                                                \
    X(Cancel)                                                                                      \
    X(Start)                                                                                       \
    X(Startall)                                                                                    \
    X(Mprobe)                                                                                      \
    X(Improbe)                                                                                     \
    X(Mrecv)                                                                                       \
    X(Imrecv)                                                                                      \
    X(Comm_idup)                                                                                   \
    X(Comm_free)                                                                                   \
    X(Comm_disconnect)                                                                             \
    X(Comm_set_name)                                                                               \
    X(Win_fence)                                                                                   \
    X(Win_free)                                                                                    \
    X(Win_flush)                                                                                   \
    X(Win_flush_local)                                                                             \
    X(Win_flush_all)                                                                               \
    X(Win_flush_local_all)                                                                         \
    X(Win_unlock)                                                                                  \
    X(Win_unlock_all)                                                                              \
    X(Win_complete)
#if MPI_VERSION >= 4
#define OTHER_FUNCTIONS_OF_MPI_4(X)                                                                \
    X(Mrecv_c)                                                                                     \
    X(Imrecv_c)                                                                                    \
    X(Comm_idup_with_info)                                                                         \
    X(Comm_create_from_group)                                                                      \
    X(Intercomm_create_from_groups)
#else
#define OTHER_FUNCTIONS_OF_MPI_4(X)
#endif

/* next.Wait is the definition of MPI_Wait after ours. Filled when the library is loaded. */
struct next_mpi {
/* A declarator can't be in parentheses here. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define NEXT(Name) __typeof__(MPI_##Name) *Name;
    OTHER_FUNCTIONS(NEXT)
    OTHER_FUNCTIONS_OF_MPI_4(NEXT)
#include "next_functions.h"
#undef NEXT
};

extern struct next_mpi next;

#endif
