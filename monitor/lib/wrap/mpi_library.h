/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI library of the process. All functions are local. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Application binary interface (ABI) of an MPI library: the major version of the standard's ABI
 * (MPI 5.0, chapter 20), or one of these. Handles are numbers in MPICH and its derivatives, and
 * pointers in Open MPI, so a monitor can't pass a call on to a library of a different ABI.
 */
enum { ABI_OTHER = 0, ABI_MPICH = -1, ABI_OPEN_MPI = -2 };

/* Returns the ABI that the monitor was built for. */
int abi_of_build(void);

/* Returns the ABI of a library by its text of MPI_Get_library_version and its major version of
   MPI_Abi_get_version (less than 1: the library's own ABI). */
int abi_of_library(const char *library, int standard_version);

/* Returns the ABI of the library that the program's calls reach. Sets the first line of its
   MPI_Get_library_version, which is valid until the next call. Not thread-safe. */
int abi_of_program(const char **library);

/* True if a monitor that was built for one ABI can call a library of the other. An unknown
   library may be any except Open MPI's and those of the standard's ABI. */
bool abi_fits(int built, int program);

/* Writes the ABI's name, up to `size` bytes. Returns `text`. */
const char *abi_name(int abi, char *text, size_t size);

/* True if the program, or a library loaded with it, was linked with an MPI library. False for a
   shell that inherits the preloaded monitor. */
bool program_needs_mpi(void);
