/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of syncbench, its kinds of synchronisation, the timed loops, and a row. */
#pragma once

#include "common/coarray/coarray.h"
#include "common/measure/rounds.h"
#include "common/run/run.h"

/* ---- options (parameters.c) ------------------------------------------------------------------ */

struct syncbench_parameters {
    struct bc_names types;
    int64_t outer;       /* 0: adaptive */
    int64_t inner;       /* 0: at most SYNCBENCH_INNER */
    int64_t delay_units; /* -1: auto */
    int64_t max_neighbours;
    int64_t seed;
};

extern const struct syncbench_parameters syncbench_default_parameters;
enum { SYNCBENCH_OPTIONS = 6 };
extern const struct bc_option syncbench_options[SYNCBENCH_OPTIONS];

enum { SYNCBENCH_INNER = 200, SYNCBENCH_OUTER = 100 };

/* ---- which ranks synchronise (sets.c) -------------------------------------------------------- */

/* Sets of ranks that synchronise. Neighbourhood is symmetric. */
enum syncbench_set {
    SYNCBENCH_EVERYONE, /* all ranks */
    SYNCBENCH_NOBODY,   /* no rank waits for another */
    SYNCBENCH_TURNS,    /* all ranks, one after the other */
    SYNCBENCH_PAIR,     /* r and r + P / 2, ordered by node */
    SYNCBENCH_RANDOM,   /* N neighbours in a ring whose ranks are permuted */
    SYNCBENCH_RING,     /* the N nearest ranks, half of them on either side */
    SYNCBENCH_GRID      /* the neighbours in a periodic 3D grid */
};

/* Returns the requirement of this set, with n (even) neighbours in a ring, that `ranks` ranks don't
   meet, as a text for notes, or NULL if they meet it. */
const char *syncbench_lacks(enum syncbench_set set, int ranks, int n);

/* Fills `order` (`ranks` entries) with a random order of all ranks. */
void syncbench_permute(uint64_t seed, int ranks, int *order);

/* Writes a rank's neighbours, in ascending order and each once, and returns their number: 0 for
   everyone, nobody and turns. Grids use `dims`, random sets `order`. `neighbours` has room for n
   ranks, and at least BC_GRID_SIDES. */
int syncbench_neighbours(enum syncbench_set set, int rank, int ranks, int n, const int *dims,
                         const int *order, int *neighbours);

/* ---- kinds of synchronisation (kinds.c) ------------------------------------------------------ */

/* State of synchronisations. */
struct syncbench_team {
    struct bc_coarray coarray;
    struct bc_mutex lock;
    struct bc_queue_lock critical; /* of the critical section */
    struct bc_images images;       /* the neighbours */
    MPI_Win window;                /* for one-sided synchronisations; made by `open` */
    MPI_Group group;               /* neighbours, for post and start; made by `open` */
};

typedef void syncbench_fn(struct syncbench_team *team);

struct syncbench_kind {
    const char *name;
    enum syncbench_set set;
    /* A synchronisation is enter, then leave. The delay precedes both, or is between them if ranks
       take turns. */
    syncbench_fn *enter, *leave;
    /* Make and free further state of the team, if any. Collective. */
    syncbench_fn *open, *close;
    bool may_not_wait; /* MPI need not wait for other ranks, and some libraries don't
                          (docs/clusters.md) */
};

enum { SYNCBENCH_KINDS = 14 };
extern const struct syncbench_kind syncbench_kinds[SYNCBENCH_KINDS];

/* Replaces the synchronisation in the reference loop: a call without effect. */
void syncbench_nothing(struct syncbench_team *team);

/* Synchronises 20 times with ranks that are 0.3 ms late (check.c), and returns the number of errors
   on this rank: it left before an awaited rank had entered, or a counter that ranks raise in turns
   is wrong. Collective over MPI_COMM_WORLD. */
int64_t syncbench_check(const struct bc_job *job, const struct syncbench_kind *kind,
                        struct syncbench_team *team);

/* ---- the timed loops (kernel.c) -------------------------------------------------------------- */

/* Times `repetitions` of a delay and a synchronisation. Collective. */
struct bc_span syncbench_time_delays(struct syncbench_team *team, syncbench_fn *enter,
                                     syncbench_fn *leave, uint64_t delay_units,
                                     int64_t repetitions);

/* Times `repetitions` turns, with the delay inside. Collective. */
struct bc_span syncbench_time_turns(struct syncbench_team *team, syncbench_fn *enter,
                                    syncbench_fn *leave, uint64_t delay_units, int64_t repetitions);

/* ---- a row (row.c, columns.c) ---------------------------------------------------------------- */

/* Quantities of a round. A synchronisation is their difference. */
enum syncbench_quantity { SYNCBENCH_LOOP, SYNCBENCH_REFERENCE, SYNCBENCH_QUANTITIES };

extern const struct bc_precise_value syncbench_precise;

/* A row: its keys, and state kept between visits. */
struct syncbench_row {
    const struct syncbench_kind *kind;
    int n;                 /* neighbours in a ring */
    int neighbours;        /* their actual number */
    struct bc_store loops; /* of both quantities */
    int64_t wrong;         /* errors of checks on this rank */
};

/* Times in ns per repetition. Significant only on rank 0. */
struct syncbench_result {
    const char *kind;
    int neighbours, ranks;
    int64_t inner;
    struct bc_summary reference, loop;
    struct bc_summary sync; /* p99 and max are of single repetitions, or of one turn per rank */
    int64_t outliers;       /* samples of the loop beyond 3 sd */
    const char *check;
    struct bc_outcome outcome;
};

extern const struct bc_table syncbench_table;

/* Computes the result of all visits and frees the samples. With --estimator=mean, sync is the
   difference of the means ± 1.96 (sd + reference sd), as specified. Local. */
void syncbench_conclude(const struct bc_run *run, struct syncbench_row *row,
                        struct syncbench_result *result);
