/* SPDX-License-Identifier: BSD-3-Clause */
/* Tool in the same process that wraps MPI functions. */
#pragma once

/* Library, or program, whose definitions of MPI functions precede the monitor's. */
struct tool_before {
    const char *name;     /* its file */
    int functions;        /* number of those that the monitor wraps; 0: there is no such tool */
    const char *function; /* the first of them */
};

/* Finds the first such tool. Local. */
struct tool_before tool_before(void);
