/* What the files of common/run/ share, and what tests look at; no program includes it. */
#pragma once

#include "common/job/contention.h"
#include "common/run/program.h"

/* In seconds: a row's visits are spread over at least this span where the budget allows; over a
   given --max-time if that is shorter. */
#define BC_SPAN_S 3.0

struct bc_sweep; /* the rows and their visits (visits.c) */

/* Called by bc_finish; `function` NULL: nothing is. */
struct bc_end {
    bc_end_fn *function;
    void *context;
};

struct bc_own_run {
    void *state; /* the program's */
    int argc;    /* the command line, as MPI leaves it */
    char **argv;
    const struct bc_table *table;
    const char *keys;               /* that are main columns in this run, see bc_open_result */
    char *columns;                  /* the names of those that are shown, for bc_style; NULL: all */
    const char *spare;              /* those of them that a table may leave out */
    double span_s;                  /* BC_SPAN_S, or a shorter --max-time; on rank 0 */
    bool limits_time, fixes_visits; /* --max-time and --visits were given */
    struct bc_sweep *sweep;         /* NULL: no rows yet */
    struct bc_contention contention;
    struct bc_end end;
    FILE *dump;       /* --dump-samples; NULL on all ranks but rank 0 */
    int dump_problem; /* errno of what the dump lost, or 0 */
};

/* ---- the common options (settings.c) --------------------------------------------------------- */

extern const struct bc_settings bc_default_settings;

/* Their table. Without `may_start_together` it lacks --start. */
struct bc_option_rows bc_settings_table(bool may_start_together);

/* ---- what bc_start does without MPI; all local ----------------------------------------------- */

/* Sets the defaults of all options; `run` and `state` must stay where they are. */
void bc_run_prepare(struct bc_run *run, const struct bc_program *program, void *state);

/* Reads the environment and a command line into what was just prepared, and checks the values
   against each other and against the job, which the caller has filled in (job, thread_level).
   False with the error set. */
bool bc_run_accept(struct bc_run *run, int argc, char *const *argv, bc_lookup_fn *lookup,
                   struct bc_error *error);

/* Frees the options and what their values own. */
void bc_run_release(struct bc_run *run);

/* ---- the result, and the samples of --dump-samples (files.c); local, rank 0 -------------------
 */

/* Opens them. False with the error set, which names the option. */
bool bc_files_open(struct bc_run *run, struct bc_error *error);

/* Sets dump_problem if what was dumped so far has not arrived. */
void bc_dump_look(struct bc_run *run);

/* Marks the result's end. Nothing is lost without a line on stderr and the exit status: returns the
   one given, or BC_EXIT_FAILED. */
int bc_files_close(struct bc_run *run, int status);

/* ---- signals (signals.c); local -------------------------------------------------------------- */

/* Begins to note the signals of bc_signals_noted. */
void bc_signals_watch(void);

/* Returns the name of one of these signals. */
const char *bc_signal_name(int number);

/* ---- visits ---------------------------------------------------------------------------------- */

/* Frees what bc_add_row and bc_next_visit have made. Local. */
void bc_visits_free(struct bc_run *run);

/* ---- the end of MPI -------------------------------------------------------------------------- */

/* The seconds that MPI_Finalize may take in jobs of up to BC_FINALIZE_RANKS ranks. */
#ifndef BC_FINALIZE_S
#define BC_FINALIZE_S 30
#endif
#define BC_FINALIZE_RANKS 1000

/* How many seconds MPI_Finalize may take in a job of `ranks` ranks: BC_FINALIZE_S, and above
   BC_FINALIZE_RANKS in proportion to the ranks, rounded up. What grows fastest in a healthy
   MPI_Finalize is linear in the ranks: the launcher hears from each process, and a rank closes a
   connection to each other rank. Local. */
unsigned bc_finalize_seconds(int ranks);

/* Finalizes MPI, which may not end: MPICH 4.0.2 over TCP waits for ever, now and then, on machines
   with other things to do. By then a program has done all it was started for. If that takes longer
   than bc_finalize_seconds of MPI_COMM_WORLD the process says so and ends with the exit status that
   the program was about to return. Collective. */
void bc_finalize(int status);
