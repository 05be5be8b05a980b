/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran layers of MPI whose names the monitor doesn't know. */
#pragma once

#include <stdbool.h>

/* Names of MPI_Init in the layers whose names are known, and NULL. */
extern const char *const layer_names[];

/* True for the path of an MPI library's part for Fortran: of MPICH, its derivatives, Open MPI. */
bool is_layer_name(const char *path);

/* Returns the path of such a loaded layer, or NULL. Its calls are seen only if it calls MPI's C
   functions. Local. */
const char *unknown_layer(void);
