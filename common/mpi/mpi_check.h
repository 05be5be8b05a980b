/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checked MPI calls: an error ends the run, with a message that names the call, the rank and MPI's
 * error string. MPI_COMM_WORLD returns errors for that (common/run/program.c).
 */
#pragma once

#include <mpi.h>
#include <stddef.h>

/* Evaluates an MPI call, and aborts the job with exit status 1 if it fails. */
#define BC_MPI(call) BC_MPI_AS(call, #call)

/* BC_MPI for macros that make the call: messages show `text` instead of it. */
#define BC_MPI_AS(call, text)                                                                      \
    do {                                                                                           \
        const int bc_mpi_code = (call);                                                            \
        if (__builtin_expect(bc_mpi_code != 0, 0))                                                 \
            bc_mpi_failed(text, bc_mpi_code, __FILE__, __LINE__);                                  \
    } while (0)

/* Gathers `bytes` bytes of each rank on rank 0 of `comm`, in the order of the ranks; the caller
   frees them. Returns NULL on all other ranks. Collective over `comm`. */
void *bc_gather(const void *own, size_t bytes, MPI_Comm comm);

_Noreturn void bc_mpi_failed(const char *call, int code, const char *file, int line);

/* Reports an error that no rank survives, such as no memory, and aborts the job with exit status 1.
   Local; does not return. */
_Noreturn void bc_abort(const char *format, ...) __attribute__((format(printf, 1, 2)));
