/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A benchmark program: its description, and the functions that its main() calls on every rank.
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
#define BC_PLACED "each buffer at an address of its own in each visit (--align)"
#define BC_IN_WINDOWS "in windows, placed by the MPI library (MPI_Win_allocate)"

struct bc_program {
    const char *name;
    const char *summary; /* for --help */
    /* The placement of buffers, for the metadata: addresses can change times by half. BC_PLACED,
       BC_ON_PAGES, BC_IN_WINDOWS, or other words. */
    const char *placement;
    struct bc_option_rows own_options, options; /* two tables of options, in the order of --help */
    const void *defaults;  /* the first bytes of the state, the options' values; NULL: zeros */
    size_t defaults_bytes; /* of `defaults`; the rest of the state begins with zeros */
    size_t state_bytes;    /* the whole state, the program's struct */
    size_t row_bytes;      /* of the program's row */
    double budget_s;       /* a run with defaults ends within this, start-up included, unless the
                              min samples of all rows take longer */
    double first_share;    /* the share of a row's time for its first visit; 0: as for the others */
    bool has_buffers;      /* the options --align and --pages: buffers by bc_allocate_buffer */
    bool has_start;        /* the option --start: ranks may start in run->window */
    enum bc_start start;   /* its default */
    bool renews;           /* wants the step BC_RENEW */

    /* Returns the thread level to ask MPI for. Local, before MPI_Init. NULL: MPI_THREAD_SINGLE. */
    int (*thread_level)(const void *state);
    /* Turns option values into the program's, on every rank. False with the error set if values are
       wrong, on rank 0 only. Local. NULL: nothing to do. */
    bool (*complete)(void *state, struct bc_error *error);
    /* Checks the options against the job and its memory, on rank 0 only. May lower a value that
       wasn't given, or run->budget_s; other ranks get the options' values later. False with the
       error set ends the run with exit status 2. Local. NULL: nothing to check. */
    bool (*fit)(void *state, struct bc_run *run, struct bc_error *error);
};

/* Fills in the state's defaults, reads the options into it, initializes MPI, describes the job and
   selects the clock. Ends the process for --help and --version, and with an error. `program` and
   `state` must outlive the run. */
struct bc_run *bc_start(const struct bc_program *program, void *state, int argc, char **argv);

/* Ends the run with exit status 2 if rank 0's `good` is false; rank 0 prints the error. */
void bc_require(struct bc_run *run, bool good, const struct bc_error *error);

/* Opens the result and writes its head, or ends the process. `keys` are the keys that vary in this
   run, each followed by a comma; they precede the table's main columns. Both must outlive the
   run. */
void bc_open_result(struct bc_run *run, const struct bc_table *table, const char *keys);

/* Appends a row. Returns the program's row, of row_bytes zeros, which bc_next_visit frees. Call it
   before the first visit, for the same rows on every rank. With a list in --align, each placement
   gets a copy of the row. */
void *bc_add_row(struct bc_run *run);

/* As bc_add_row, for a row whose buffers lie in a window, where --align doesn't apply. */
void *bc_add_window_row(struct bc_run *run);

enum bc_step {
    BC_RENEW,   /* make shared objects, such as windows, again, since their place in memory affects
                   times. Precedes each further visit of all rows */
    BC_MEASURE, /* measure the row in new buffers. The first visit also finds values for later ones,
                   such as the length of a batch */
    BC_WRITE    /* write the row (bc_write_row), which has all its visits */
};

struct bc_visit {
    enum bc_step step;
    void *row;       /* the program's; NULL with BC_RENEW */
    double seconds;  /* max time of BC_MEASURE; INFINITY: none. On rank 0 */
    bool is_precise; /* set by BC_MEASURE on rank 0: the row is as precise as asked for. If not, it
                        gets more visits while there is time */
};

/* Returns the next visit, valid until the next call; NULL when all rows are written. After a signal
   (run->signal) or lost output, rows without visits are left out. Collective. See visits.c for the
   order. */
struct bc_visit *bc_next_visit(struct bc_run *run);

/* Writes rank 0's result as a row of the table, in the step BC_WRITE. The first call for a row is
   collective and warns of disturbed visits; rank 0 alone may make further calls. */
void bc_write_row(struct bc_run *run, const void *result);

typedef void bc_end_fn(void *context);

/* Has bc_finish call `function` with `context` after MPI_Finalize: one function per run. Local. */
void bc_run_at_end(struct bc_run *run, bc_end_fn *function, void *context);

/* Marks the end of the result, finalizes MPI and calls the function of bc_run_at_end. Returns the
   exit status, the same on every rank. */
int bc_finish(struct bc_run *run);
