/* Another tool that wraps MPI functions, in the same process. */
#pragma once

/* A library, or the program, whose definitions of MPI functions come before the monitor's. */
struct tool_before {
    const char *name;     /* its file */
    int functions;        /* of those that the monitor wraps: how many; 0: there is no such tool */
    const char *function; /* the first of them */
};

/* Finds the first such tool, by the functions that the monitor wraps. Local. */
struct tool_before tool_before(void);
