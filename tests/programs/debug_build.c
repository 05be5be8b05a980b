/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded library that adds an option of MPICH's debug builds to the version, as they report it.
 */
#include <mpi.h>
#include <string.h>

int MPI_Get_library_version(char *version, int *length)
{
    static const char option[] = " '--enable-g=all' '--enable-error-checking=all'";
    const int status = PMPI_Get_library_version(version, length);
    strncat(version, option, MPI_MAX_LIBRARY_VERSION_STRING - strlen(version) - 1);
    *length = (int)strlen(version);
    return status;
}
