/*
 * A benchmark program: what it is, in tables, and what its main() calls, on every rank.
 *
 *     int main(int argc, char **argv)
 *     {
 *         struct halo halo;
 *         struct bc_run *const run = bc_start(&halo_program, &halo, argc, argv);
 *         bc_open_result(run, &halo_table, "");
 *         list_rows(&halo);                                 // bc_add_row for each
 *         for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
 *             if (visit->step == BC_MEASURE)
 *                 measure(&halo, visit);
 *             else
 *                 write_row(&halo, visit->row);             // bc_write_row
 *         return bc_finish(run);
 *     }
 */
#pragma once

#include "common/run/run.h"

/* The usual budget_s: a run with defaults and two ranks ends within 15 s. */
#define BC_BUDGET_S 14.0

#define BC_ON_PAGES "each buffer begins on a page"
#define BC_IN_WINDOWS "in windows, placed by the MPI library (MPI_Win_allocate)"

struct bc_program {
    const char *name;
    const char *summary; /* what it measures, for --help */
    /* How its buffers are placed in memory, for the metadata: their addresses can change times by
       half. BC_ON_PAGES, BC_IN_WINDOWS, or words of its own. */
    const char *placement;
    /* The program's own options, and those that it shares with others. Their values lie in the
       state. */
    struct bc_option_rows own_options, options;
    const void *defaults;  /* what the state begins with, the options' values; NULL: zeros */
    size_t defaults_bytes; /* of that; the rest of the state begins with zeros */
    size_t state_bytes;    /* the whole state, a struct of the program's */
    size_t row_bytes;      /* what the program keeps of a row */
    double budget_s;       /* a run with defaults ends within this, start-up included, unless the
                              min samples of all rows take longer */
    double first_share;    /* the share of a row's time that its first visit may take; 0: as much as
                              each other visit */
    bool has_start;        /* the option --start: ranks may start in run->window */
    enum bc_start start;   /* its default */
    bool renews;           /* wants the step BC_RENEW */

    /* The thread level that it asks MPI for. Local, before MPI_Init. NULL: MPI_THREAD_SINGLE. */
    int (*thread_level)(const void *state);
    /* Turns option values into what the program uses, on every rank. False with the error set if
       values are wrong, which happens on rank 0 only. Local. NULL: nothing to do. */
    bool (*complete)(void *state, struct bc_error *error);
    /* Checks the options against the job and its memory, on rank 0 only. May lower the value of an
       option that wasn't given, or run->budget_s; other ranks get the options' values after that.
       False with the error set ends the run with exit status 2. Local. NULL: nothing to check. */
    bool (*fit)(void *state, struct bc_run *run, struct bc_error *error);
};

/* Fills in the state's defaults, reads the options into it, initializes MPI, describes the job and
   selects the clock. Ends the process with the exit status of enum bc_exit where help was asked for
   or something is wrong. `program` and `state` must stay as long as the run. */
struct bc_run *bc_start(const struct bc_program *program, void *state, int argc, char **argv);

/* Ends the run with exit status 2 unless all is well on rank 0, which prints the error. */
void bc_require(struct bc_run *run, bool good, const struct bc_error *error);

/* Opens the result and writes its head. Ends the process where that isn't possible. `keys` names
   keys that vary in this run: they come before the table's main columns, each with a comma behind
   it; "" if there are none. Both must stay as long as the run. */
void bc_open_result(struct bc_run *run, const struct bc_table *table, const char *keys);

/* Adds a row behind the others. Returns the program's row_bytes for it, zeros; they are freed once
   the row is written. Call it before the first visit, for the same rows on every rank. */
void *bc_add_row(struct bc_run *run);

/* What to do next. */
enum bc_step {
    BC_RENEW,   /* make anew what rows share, such as windows: where they lie in memory changes from
                   launch to launch, too. Before each time that all rows are visited but the first */
    BC_MEASURE, /* measure the row, in buffers that are made anew, and keep what was found. Its
                   first visit also finds what later ones use, such as the length of a batch */
    BC_WRITE    /* the row has all its visits: write what there is to say of it (bc_write_row) */
};

struct bc_visit {
    enum bc_step step;
    void *row;       /* the program's; NULL: of BC_RENEW */
    double seconds;  /* that measuring may take; INFINITY: as long as it takes. On rank 0 */
    bool is_precise; /* to be set by BC_MEASURE, on rank 0: the row is as precise as the settings
                        ask for. If not, it gets more visits while there is time */
};

/* The next visit, which is valid until the next call; NULL when all rows are written. Once a rank
   has noted a signal (run->signal) or output is lost, rows are written with the visits that they
   have, and those without any are left out. Collective. See visits.c for which row is measured
   when. */
struct bc_visit *bc_next_visit(struct bc_run *run);

/* Writes rank 0's result as a row of the table, in the step BC_WRITE. The first one of a row also
   remarks on its visits: collective, other ranks' results are ignored. Further results of the row
   may be written on rank 0 alone. */
void bc_write_row(struct bc_run *run, const void *result);

typedef void bc_end_fn(void *context);

/* Has bc_finish call `function` with `context` once MPI is finalized: one function a run. Local. */
void bc_run_at_end(struct bc_run *run, bc_end_fn *function, void *context);

/* Marks the end of the result, finalizes MPI and calls what bc_run_at_end has been given. Returns
   the exit status, the same on every rank. */
int bc_finish(struct bc_run *run);
