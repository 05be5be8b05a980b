/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For a program to be preloaded with: a library with the version text of another MPI library.
 *
 *   LIBRARY       its text of MPI_Get_library_version; undefined: it isn't the one that the
 *                 program's calls reach
 *   ABI_VERSION   its version of the MPI standard's ABI; undefined: it doesn't know of any
 */
#include <string.h>

#ifdef LIBRARY
int PMPI_Get_library_version(char *version, int *length);
int MPI_Get_library_version(char *version, int *length);

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, LIBRARY);
    *length = (int)strlen(version);
    return 0;
}

int MPI_Get_library_version(char *version, int *length)
{
    return PMPI_Get_library_version(version, length);
}
#endif

#ifdef ABI_VERSION
int PMPI_Abi_get_version(int *abi_major, int *abi_minor);

int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    *abi_major = ABI_VERSION;
    *abi_minor = 0;
    return 0;
}
#endif
