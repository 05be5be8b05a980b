/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/operations/kind.h"

#include "common/mpi/mpi_check.h"

#include <string.h>

const char *const op_form_names[OP_FORMS] = {"nonblocking", "persistent"};

/* ---- defects of MPI libraries: docs/clusters.md ---------------------------------------------- */

#define MPICH_4_0 "MPICH Version:\t4.0."

static const struct {
    const char *name;
    enum op_feature feature;
    const char *library; /* the beginning of MPI_Get_library_version's text */
} defects[] = {
    {"bcast", OP_LARGE_BLOCKS, MPICH_4_0},        {"allgather", OP_PERSISTENT_RESTART, MPICH_4_0},
    {"gather", OP_PERSISTENT_RESTART, MPICH_4_0}, {"scatter", OP_PERSISTENT_RESTART, MPICH_4_0},
    {"reduce", OP_IN_PLACE_ROOT, MPICH_4_0},
};

bool op_is_broken(const struct op_kind *kind, enum op_feature feature)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    BC_MPI(MPI_Get_library_version(version, &length));
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++)
        if (defects[i].feature == feature && strcmp(defects[i].name, kind->name) == 0 &&
            strncmp(version, defects[i].library, strlen(defects[i].library)) == 0)
            return true;
    return false;
}

bool op_has_persistent(const struct op_kind *kind)
{
    return kind->functions.persist != NULL && !op_is_broken(kind, OP_PERSISTENT_RESTART);
}
