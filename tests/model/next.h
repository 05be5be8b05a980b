/*
 * Interposers stack: each calls the next definition of an MPI function, which may be another
 * interposer's, and only the last one is the library's.
 */
#ifndef MODEL_NEXT_H
#define MODEL_NEXT_H

#include <mpi.h>

/* Marks what the model defines in place of MPI; everything else stays invisible to the program. */
#define INTERPOSED __attribute__((visibility("default")))

/* The functions interposed, other than the operations themselves. */
#define NEXT_FUNCTIONS(X) \
    X(Init)               \
    X(Init_thread)        \
    X(Finalize)           \
    X(Wait)               \
    X(Waitall)            \
    X(Waitany)            \
    X(Waitsome)           \
    X(Test)               \
    X(Testall)            \
    X(Testany)            \
    X(Testsome)           \
    X(Request_free)       \
    X(Request_get_status)

/* next.Wait is the definition of MPI_Wait after ours. Filled when the library is loaded. */
struct next_mpi {
/* A declarator can't be in parentheses here. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define NEXT_MEMBER(Name) __typeof__(MPI_##Name) *Name;
    NEXT_FUNCTIONS(NEXT_MEMBER)
#define COLLECTIVE(Name, ...) NEXT_MEMBER(Name)
#include "collectives.def"
#undef NEXT_MEMBER
};

extern struct next_mpi next;

#endif
