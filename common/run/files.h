/* The files that a run writes: the result, and the samples of --dump-samples. All functions are
   local, for rank 0. */
#ifndef COMMCOST_COMMON_RUN_FILES_H
#define COMMCOST_COMMON_RUN_FILES_H

#include "common/run/program.h"

/* Opens them. False with the error set, which names the option. */
bool bc_files_open(struct bc_run *run, struct bc_error *error);

/* Whether all that was written so far has arrived. */
bool bc_files_are_good(struct bc_run *run);

/* Marks the result's end. Nothing is lost without a line on stderr and the exit status: returns the
   one given, or BC_EXIT_FAILED. */
int bc_files_close(struct bc_run *run, int status);

#endif
