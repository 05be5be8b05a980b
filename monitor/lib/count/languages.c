/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/languages.h"

#include <link.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

unsigned languages_seen;
bool has_large_integers;

/* Intel MPI and others have a library between the program and libmpi for 8-byte integers. */
static int search_ilp64(struct dl_phdr_info *info, size_t size, void *unused)
{
    const char *const slash = strrchr(info->dlpi_name, '/');
    const char *const file = slash != NULL ? slash + 1 : info->dlpi_name;
    (void)size, (void)unused;
    return strncmp(file, "libmpi", 6) == 0 && strstr(file, "ilp64") != NULL;
}

void integers_start(void)
{
    int size = 0; /* and so without Fortran */
    if (MPI_INTEGER != MPI_DATATYPE_NULL)
        PMPI_Type_size(MPI_INTEGER, &size);
    has_large_integers = size > (int)sizeof(int32_t) || dl_iterate_phdr(search_ilp64, NULL) != 0;
}
