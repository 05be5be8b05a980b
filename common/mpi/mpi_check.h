/*
 * Checked MPI calls: the one way in which an error ends a run.
 *
 * MPI_COMM_WORLD returns errors instead of aborting (common/run/program.c sets that), so the
 * message can say which call failed, on which rank and why.
 */
#pragma once

#include <mpi.h>
#include <stddef.h>

/* Evaluates an MPI call. If it fails, prints the call, file and line, the rank and MPI's error
   string to stderr and aborts the job with exit status 1. */
#define BC_MPI(call) BC_MPI_AS(call, #call)

/* The same for macros that make the call: `text` is what is printed of it. */
#define BC_MPI_AS(call, text)                                                                      \
    do {                                                                                           \
        const int bc_mpi_code = (call);                                                            \
        if (__builtin_expect(bc_mpi_code != 0, 0))                                                 \
            bc_mpi_failed(text, bc_mpi_code, __FILE__, __LINE__);                                  \
    } while (0)

/* Gathers `bytes` bytes of each rank on rank 0 of `comm`, in the order of the ranks; the caller
   frees them. NULL on all other ranks. Collective over `comm`. */
void *bc_gather(const void *own, size_t bytes, MPI_Comm comm);

/* Reports a failed MPI call and aborts the job. Local; does not return. */
_Noreturn void bc_mpi_failed(const char *call, int code, const char *file, int line);

/* Reports an error after which no rank can go on (no memory, say) and aborts the job with exit
   status 1. Local; does not return. */
_Noreturn void bc_abort(const char *format, ...) __attribute__((format(printf, 1, 2)));
