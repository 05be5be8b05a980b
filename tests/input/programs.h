/*
 * The constants of all benchmarks in one process: what a program makes of a command line can be
 * seen without starting it.
 */
#ifndef COMMCOST_TESTS_BAD_INPUT_PROGRAMS_H
#define COMMCOST_TESTS_BAD_INPUT_PROGRAMS_H

#include "common/run/benchmark.h"

#include <stddef.h>

extern const struct bc_benchmark *const programs[];
extern const size_t programs_count;

/* bc_run_prepare; aborts without memory. Free with bc_run_release. */
void program_prepare(struct bc_run *run, const struct bc_benchmark *program);

#endif
