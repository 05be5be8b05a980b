/*
 * The next definition of each MPI function that the monitor wraps. Interposers stack: each calls
 * the next definition, which may be another interposer's; the last one is the MPI library's. What
 * the monitor itself asks MPI goes to PMPI_.
 */
#ifndef COMMCOST_MONITOR_NEXT_H
#define COMMCOST_MONITOR_NEXT_H

#include <mpi.h>

/* Marks what the library shows to programs; all other names are hidden. */
#define INTERPOSED __attribute__((visibility("default")))

/* next.Wait is the next definition of MPI_Wait. Filled when the library is loaded. */
struct next_mpi {
/* A declarator can't be in parentheses here. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define NEXT(Name) __typeof__(MPI_##Name) *Name;
#include "monitor/next_functions.h"
#undef NEXT
};

extern struct next_mpi next;

#endif
