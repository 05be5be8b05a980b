/* What else is in the process: programs that use MPI, and other tools that wrap its functions. All
   functions are local. */
#pragma once

#include <stdbool.h>

/* Whether the program, or a library that was loaded with it, was linked with an MPI library. A
   shell that inherits the preloaded monitor wasn't. */
bool program_needs_mpi(void);

/* A library, or the program, whose definitions of MPI functions come before the monitor's. */
struct tool_before {
    const char *name;     /* its file */
    int functions;        /* of those that the monitor wraps: how many; 0: there is no such tool */
    const char *function; /* the first of them */
};

struct tool_before tool_before(void);
