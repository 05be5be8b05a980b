/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions with counts of type MPI_Count, under their MPI 4.0 names if the library has them: MPI
 * 4.1 deprecates the names that end in _x.
 */
#pragma once

#include <mpi.h>

#if MPI_VERSION >= 4
#define BC_PMPI_TYPE_SIZE PMPI_Type_size_c
#define BC_PMPI_GET_ELEMENTS PMPI_Get_elements_c
#else
#define BC_PMPI_TYPE_SIZE PMPI_Type_size_x
#define BC_PMPI_GET_ELEMENTS PMPI_Get_elements_x
#endif

/* MPI 4.0 has it under the old name only. */
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define BC_PMPI_STATUS_SET_ELEMENTS PMPI_Status_set_elements_c
#else
#define BC_PMPI_STATUS_SET_ELEMENTS PMPI_Status_set_elements_x
#endif
