/*
 * Interposers stack: each calls the next definition of an MPI function, which may be another
 * interposer's, and only the last one is the library's.
 */
#ifndef MODEL_NEXT_H
#define MODEL_NEXT_H

#include "persistent.h"

#include <mpi.h>

/* Marks what the model defines in place of MPI; everything else stays invisible to the program. */
#define INTERPOSED __attribute__((visibility("default")))

/* The functions interposed, other than the operations themselves. */
#define NEXT_FUNCTIONS(X)                                                                          \
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
    X(Start)                                                                                       \
    X(Startall)                                                                                    \
    X(Sendrecv)                                                                                    \
    X(Sendrecv_replace)                                                                            \
    X(Cancel)                                                                                      \
    X(Win_free)                                                                                    \
    X(Win_allocate)                                                                                \
    X(Win_allocate_shared)                                                                         \
    X(Win_sync)                                                                                    \
    X(Request_free)                                                                                \
    X(Request_get_status)

#if MPI_VERSION >= 4
#define NEXT_PARTITIONED(X)                                                                        \
    X(Psend_init)                                                                                  \
    X(Precv_init)                                                                                  \
    X(Pready)                                                                                      \
    X(Pready_range)                                                                                \
    X(Pready_list)                                                                                 \
    X(Parrived)
#else
#define NEXT_PARTITIONED(X)
#endif

/* next.Wait is the definition of MPI_Wait after ours. Filled when the library is loaded. */
struct next_mpi {
/* A declarator can't be in parentheses here. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define NEXT_MEMBER(Name) __typeof__(MPI_##Name) *Name;
    NEXT_FUNCTIONS(NEXT_MEMBER)
    NEXT_PARTITIONED(NEXT_MEMBER)
#if HAS_PERSISTENT
#define PERSISTENT_COLLECTIVE(Name, ...) __typeof__(PERSISTENT(Name)) *Name;
#else
#define PERSISTENT_COLLECTIVE(Name, ...)
#endif
#define COLLECTIVE(Name, ...) NEXT_MEMBER(Name)
#define BLOCKING_COLLECTIVE(Name, ...) NEXT_MEMBER(Name)
#include "collectives.def"
#define MESSAGE_ROWS 1
#define MESSAGE(Name, ...) NEXT_MEMBER(Name)
#include "p2p.def"
#define ONE_SIDED(Name, ...) NEXT_MEMBER(Name)
#define ONE_SIDED_REQUEST(Name, ...) NEXT_MEMBER(Name)
#define ATOMIC(Name, ...) NEXT_MEMBER(Name)
#define SYNCHRONISATION(Name, ...) NEXT_MEMBER(Name)
#define LOCK(Name, ...) NEXT_MEMBER(Name)
#include "rma.def"
#undef NEXT_MEMBER
};

extern struct next_mpi next;

#endif
