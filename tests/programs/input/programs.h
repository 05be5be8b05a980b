/*
 * The constants of all benchmarks in one process: what a program makes of a command line can be
 * seen without starting it.
 */
#ifndef COMMCOST_TESTS_BAD_INPUT_PROGRAMS_H
#define COMMCOST_TESTS_BAD_INPUT_PROGRAMS_H

#include "common/run/internal.h"

#include <stddef.h>

extern const struct bc_program *const programs[];
extern const size_t programs_count;

/* bc_run_prepare with a state of its own; aborts without memory. */
void program_prepare(struct bc_run *run, const struct bc_program *program);

/* Frees both. */
void program_release(struct bc_run *run);

#endif
