/*
 * Which application binary interface (ABI) of MPI a library has. Handles are numbers in MPICH and
 * its derivatives, pointers in Open MPI, and values of the standard in its own ABI (MPI 5.0,
 * chapter 20), which one library may have beside another of its own. So a monitor can't even pass a
 * call on to a library of another ABI than it was built for. All functions are local.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct abi {
    enum { ABI_STANDARD, ABI_MPICH, ABI_OPEN_MPI, ABI_OTHER } family;
    int version; /* the major version of the standard's ABI; 0 in the other families */
};

/* The ABI that the monitor was built for. */
struct abi abi_of_build(void);

/* The ABI of a library with this text of MPI_Get_library_version, and this major version of
   MPI_Abi_get_version (less than 1: the library's own ABI). */
struct abi abi_of_library(const char *library, int standard_version);

/* The ABI of the library that the program's calls reach, and that library's text of
   MPI_Get_library_version, up to its first line's end. The text is valid until the next call. May
   be called before MPI_Init, by one thread at a time. */
struct abi abi_of_program(const char **library);

/* Whether what was built for one ABI can call a library of the other. Of libraries that neither
   text nor header names only Open MPI's and the standard's ABI are known not to be theirs. */
bool abi_fits(struct abi built, struct abi program);

/* Its name in words, up to `size` bytes. Returns `text`. */
const char *abi_name(struct abi abi, char *text, size_t size);
