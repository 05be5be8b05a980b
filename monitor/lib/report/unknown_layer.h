/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran layers of MPI whose names the monitor doesn't know. */
#pragma once

/* Returns the path of such a loaded layer, or NULL. Its calls are seen only if it calls MPI's C
   functions. Local. */
const char *unknown_layer(void);
