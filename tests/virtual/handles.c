/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles that a rank has made and not freed. Communicators, groups, windows and requests are the
 * model's own; datatypes and infos are the real library's, and are counted here.
 */
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <stdlib.h>

static int datatypes, infos;

#define COUNTS(Name, counter, change, parameters, arguments)                                       \
    int PMPI_##Name parameters                                                                     \
    {                                                                                              \
        counter += (change);                                                                       \
        return REAL(Name) arguments;                                                               \
    }                                                                                              \
    MPI_NAME(Name)
#define MAKES_TYPE(Name, parameters, arguments) COUNTS(Name, datatypes, 1, parameters, arguments)

MAKES_TYPE(Type_contiguous, (int count, MPI_Datatype type, MPI_Datatype *made), (count, type, made))
MAKES_TYPE(Type_vector, (int count, int length, int stride, MPI_Datatype type, MPI_Datatype *made),
           (count, length, stride, type, made))
MAKES_TYPE(Type_dup, (MPI_Datatype type, MPI_Datatype *made), (type, made))
MAKES_TYPE(Type_create_struct,
           (int count, const int lengths[], const MPI_Aint places[], const MPI_Datatype types[],
            MPI_Datatype *made),
           (count, lengths, places, types, made))
MAKES_TYPE(Type_create_hvector,
           (int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype *made),
           (count, length, stride, type, made))
MAKES_TYPE(Type_create_hindexed,
           (int count, const int lengths[], const MPI_Aint places[], MPI_Datatype type,
            MPI_Datatype *made),
           (count, lengths, places, type, made))
MAKES_TYPE(Type_create_subarray,
           (int dimensions, const int sizes[], const int parts[], const int starts[], int order,
            MPI_Datatype type, MPI_Datatype *made),
           (dimensions, sizes, parts, starts, order, type, made))
COUNTS(Type_free, datatypes, -1, (MPI_Datatype * type), (type))
COUNTS(Comm_get_info, infos, 1, (MPI_Comm comm, MPI_Info *made), (comm, made))
COUNTS(Info_free, infos, -1, (MPI_Info * info), (info))

static void must_be_none(const char *what, int count)
{
    if (count != 0)
        world_abort("%d of its %s are not freed at the end", count, what);
}

void handles_must_be_freed(void)
{
    if (getenv("MODEL_MAY_KEEP") != NULL)
        return;
    must_be_none("communicators", comms_left());
    must_be_none("groups", groups_left());
    must_be_none("windows", windows_left());
    must_be_none("requests", requests_left());
    must_be_none("datatypes", datatypes);
    must_be_none("infos", infos);
}
