/*
 * The files that a run writes, on rank 0: the result, and with --dump-samples the samples. Nothing
 * is lost without a line on stderr and the exit status. All local.
 */
#ifndef COMMCOST_COMMON_RUN_RUN_FILES_H
#define COMMCOST_COMMON_RUN_RUN_FILES_H

#include "common/run/run.h"

#include <stdbool.h>

/* Opens the result as the settings say; `program` and `table` must stay as long as it. NULL with
   the error set. */
struct bc_output *bc_settings_open(const struct bc_settings *settings, const char *program,
                                   const struct bc_table *table, struct bc_error *error);

/* Opens them as the settings say. False with the error set, which names the option;
   what was in the result's file then is still there. */
bool bc_run_open_files(struct bc_run *run, struct bc_error *error);

/* Whether all that was written so far has arrived. */
bool bc_run_files_good(struct bc_run *run);

/* Closes them, the result with its end marked. Returns the exit status: the one given,
   or BC_EXIT_FAILED if something was lost. */
int bc_run_close_files(struct bc_run *run, int status);

#endif
