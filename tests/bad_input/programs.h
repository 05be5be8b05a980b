/*
 * Every benchmark's program in one process, up to where it would start MPI.
 *
 * Each program's own main() runs, with its own table of options and its own checks;
 * only its call of bc_run_begin() comes here (the sources are compiled with other names
 * for the two, see CMakeLists.txt). So a caller sees what the program would make of a
 * command line, and nothing of it is copied.
 */
#ifndef COMMCOST_TESTS_BAD_INPUT_PROGRAMS_H
#define COMMCOST_TESTS_BAD_INPUT_PROGRAMS_H

#include "common/run/run.h"

#include <stddef.h>

struct program {
    const char *name;
    int (*main)(int argc, char **argv);
};

extern const struct program programs[];
extern const size_t programs_count;

/* Sees a run that bc_run_prepare() has just made, all values the defaults. */
typedef void programs_visit_fn(struct bc_run *run, void *context);

/* Runs the program's main() and calls `visit` where it would begin. What the visit reads into the
   run is freed after it. */
void programs_visit(const struct program *program, programs_visit_fn *visit, void *context);

/* Frees what was kept of all programs. */
void programs_forget(void);

#endif
