/* The MPI library of the process, and whether the program uses one. All functions are local. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Which application binary interface (ABI) of MPI a library has: the major version of the
 * standard's (MPI 5.0, chapter 20), which one library may have beside another of its own, or one of
 * these. Handles are numbers in MPICH and its derivatives, pointers in Open MPI. So a monitor can't
 * even pass a call on to a library of another ABI than it was built for.
 */
enum { ABI_OTHER = 0, ABI_MPICH = -1, ABI_OPEN_MPI = -2 };

/* Returns the ABI that the monitor was built for. */
int abi_of_build(void);

/* Returns the ABI of a library with this text of MPI_Get_library_version, and this major version of
   MPI_Abi_get_version (less than 1: the library's own ABI). */
int abi_of_library(const char *library, int standard_version);

/* Returns the ABI of the library that the program's calls reach, and that library's text of
   MPI_Get_library_version, up to its first line's end. The text is valid until the next call. May
   be called before MPI_Init, by one thread at a time. */
int abi_of_program(const char **library);

/* True if what was built for one ABI can call a library of the other. Of libraries that neither
   text nor header names only Open MPI's and the standard's ABI are known not to be theirs. */
bool abi_fits(int built, int program);

/* Writes its name in words, up to `size` bytes. Returns `text`. */
const char *abi_name(int abi, char *text, size_t size);

/* True if the program, or a library that was loaded with it, was linked with an MPI library. A
   shell that inherits the preloaded monitor wasn't. */
bool program_needs_mpi(void);
