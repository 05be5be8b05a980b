/* SPDX-License-Identifier: BSD-3-Clause */
/* State and functions of common/run/ and common/measure/ alone; no program includes it. */
#pragma once

#include "common/job/contention.h"
#include "common/memory/placement.h"
#include "common/result/writer.h"
#include "common/run/option_table.h"
#include "common/run/program.h"

/* Minimum time over which a row's visits are spread, in seconds, if the budget allows; a shorter
   --max-time replaces it. */
#define BC_SPAN_S 3.0

/* A placement of --align, with its name. */
struct bc_named_placement {
    struct bc_placement placement;
    char name[24];
};
enum { BC_PLACEMENTS_MAX = 8 };

struct bc_sweep; /* the rows and their visits (visits.c) */

struct bc_own_run {
    void *state; /* the program's */
    int argc;    /* the command line, as MPI leaves it */
    char **argv;
    const struct bc_table *table;
    char keys[128]; /* the keys that vary in this run, see bc_open_result */
    struct bc_named_placement placements[BC_PLACEMENTS_MAX];
    int placement_count;
    char *columns;                  /* the names of the shown columns, for bc_style; NULL: all */
    const char *spare;              /* columns that a table may leave out */
    double span_s;                  /* BC_SPAN_S, or a shorter --max-time; on rank 0 */
    bool limits_time, fixes_visits; /* --max-time and --visits were given */
    struct bc_sweep *sweep;         /* NULL: no rows yet */
    struct bc_contention contention;
    bc_end_fn *end_function; /* called by bc_finish; NULL: none */
    void *end_context;
    bool compares_variables; /* ranks compare the variables that COMMCOST_VARIABLES names */
    FILE *dump;              /* --dump-samples; NULL on all ranks except rank 0 */
    int dump_problem;        /* errno of the first loss in the dump, or 0 */
};

/* ---- the common options (settings.c) --------------------------------------------------------- */

extern const struct bc_settings bc_default_settings;

/* Returns their table. Without `may_start_together` it lacks --start. */
struct bc_option_rows bc_settings_table(bool may_start_together);

/* Returns the table of the options of programs with buffers. */
struct bc_option_rows bc_buffers_table(void);

/* ---- placements of buffers (placements.c); local --------------------------------------------- */

/* Reads --align into the placements. Returns false with the error set if it is wrong. */
bool bc_placements_read(struct bc_run *run, struct bc_error *error);

/* Returns the table with the key `align`, or the table itself with the default placement or without
   the column `visits`. */
const struct bc_table *bc_placements_table(const struct bc_run *run, const struct bc_table *table);

/* ---- the parts of bc_start without MPI; all local -------------------------------------------- */

/* Sets the defaults of all options; `run` and `state` must stay where they are. */
void bc_run_prepare(struct bc_run *run, const struct bc_program *program, void *state);

/* Reads the environment and a command line, and checks the values against each other and against
   the job, which the caller has filled in (job, thread_level). False with the error set. */
bool bc_run_accept(struct bc_run *run, int argc, char *const *argv, bc_lookup_fn *lookup,
                   struct bc_error *error);

/* Frees the options and their values. */
void bc_run_release(struct bc_run *run);

/* ---- result and --dump-samples (files.c); local, rank 0 -------------------------------------- */

/* Opens both files. Returns false with an error that names the option if one can't be opened. */
bool bc_files_open(struct bc_run *run, struct bc_error *error);

/* Writes a sample in ns to the dump, if any, under the number of the next row. Sets dump_problem if
   that fails. Visits and samples are counted from 1. */
void bc_dump_sample(const struct bc_run *run, const char *quantity, size_t visit, size_t sample,
                    double ns);

/* Sets dump_problem if a part of the dump was lost. */
void bc_dump_check(struct bc_run *run);

/* Marks the result's end. Returns the exit status given, or BC_EXIT_FAILED, with a line on stderr,
   if something was lost. */
int bc_files_close(struct bc_run *run, int status);

/* ---- signals (signals.c); local -------------------------------------------------------------- */

/* Begins to note the signals of bc_signals_noted. */
void bc_signals_watch(void);

/* Returns the name of one of these signals. */
const char *bc_signal_name(int number);

/* ---- visits ---------------------------------------------------------------------------------- */

/* Frees the rows and visits. Local. */
void bc_visits_free(struct bc_run *run);

/* ---- the end of MPI -------------------------------------------------------------------------- */

/* The seconds that MPI_Finalize may take in jobs of up to BC_FINALIZE_RANKS ranks. */
#ifndef BC_FINALIZE_S
#define BC_FINALIZE_S 30
#endif
#define BC_FINALIZE_RANKS 1000

/* Returns the seconds that MPI_Finalize may take in a job of `ranks` ranks: above BC_FINALIZE_RANKS
   in proportion, as the launcher hears from each process, and each rank closes connections to all
   others. Local. */
unsigned bc_finalize_seconds(int ranks);

/* Finalizes MPI. MPICH 4.0.2 over TCP sometimes hangs here. After bc_finalize_seconds the process
   reports that and ends with the given exit status. Collective. */
void bc_finalize(int status);
