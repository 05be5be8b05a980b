/* The MPI library's Fortran layer, as the report sees it. */
#pragma once

/* Returns the path of a loaded Fortran layer whose names the monitor doesn't know, or NULL. Its
   calls are seen only if it calls MPI's C functions. Local. */
const char *fortran_unknown_layer(void);
