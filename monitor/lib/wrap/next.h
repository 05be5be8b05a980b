/* SPDX-License-Identifier: BSD-3-Clause */
/* Next definitions of the MPI functions that the monitor wraps. */
#pragma once

#include <mpi.h>

/* Marks functions that the library exports; all other names are hidden. */
#define INTERPOSED __attribute__((visibility("default")))

/* MPI 4.1 deprecates these, so an mpi.h may lack them, but older programs call them. */
int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count);
int MPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count);
int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent);
int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent);
int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size);

/* Next definition of each MPI function that the monitor wraps, next.Wait for MPI_Wait. Interposers
   stack: each calls the next definition, and the last one is MPI's. The monitor's own calls go to
   PMPI_. Set when the library is loaded. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
extern struct next_mpi {
/* A declarator can't be in parentheses here. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define NEXT(Name) __typeof__(MPI_##Name) *Name;
#include "monitor/lib/count/next_functions.h"
#undef NEXT
} next __attribute__((visibility("hidden")));
#pragma GCC diagnostic pop

/* The MPI library's own definitions of the PMPI_ functions that the monitor wraps, to see frees
   that bypass it. */
extern struct freeing_around {
    int (*Comm_free)(MPI_Comm *), (*Comm_disconnect)(MPI_Comm *);
} freeing_around __attribute__((visibility("hidden")));

/* Fills both earlier, if the constructor of another library calls MPI. */
void find_next_definitions(void);
