/*
 * The ways to synchronise, which ranks synchronise, the timed loops, and a row: what a
 * synchronisation adds to a loop of delays.
 *
 * Specification: the EPCC suite (common/coarray/coarray.h). MPI's own synchronisations stand beside
 * those of coarrays.
 */
#pragma once

#include "common/measure/batch.h"
#include "common/coarray/coarray.h"
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

/* The specification's repetitions of a loop, and loops. */
enum { SYNCBENCH_INNER = 200, SYNCBENCH_OUTER = 100 };

/* ---- which ranks synchronise (sets.c) -------------------------------------------------------- */

/* Which ranks a rank synchronises with; a rank is a neighbour of its neighbours. */
enum syncbench_set {
    SYNCBENCH_EVERYONE, /* all ranks */
    SYNCBENCH_NOBODY,   /* no rank waits for another */
    SYNCBENCH_TURNS,    /* all ranks, one after the other */
    SYNCBENCH_PAIR,     /* r and r + P / 2, as places of common/job/node_order.h */
    SYNCBENCH_RANDOM,   /* N neighbours in a ring whose ranks are permuted */
    SYNCBENCH_RING,     /* the N nearest ranks, half of them on either side */
    SYNCBENCH_GRID      /* the neighbours in a periodic 3D grid */
};

/* Returns what `ranks` ranks lack to be arranged like this, with n neighbours in a ring (even, at
   least 2), as a text for notes, for rings always what n = 2 needs; NULL if nothing is missing. */
const char *syncbench_lacks(enum syncbench_set set, int ranks, int n);

/* Fills `order` (`ranks` entries) with the seed's order of all ranks; all are equally likely. */
void syncbench_permute(uint64_t seed, int ranks, int *order);

/* Writes a rank's neighbours, in ascending order and each once, and returns their number: 0 for
   everyone, nobody and turns. Grids use `dims`, whose product is `ranks`, random sets `order`.
   `neighbours` has room for n ranks, and at least BC_GRID_SIDES. */
int syncbench_neighbours(enum syncbench_set set, int rank, int ranks, int n, const int *dims,
                         const int *order, int *neighbours);

/* ---- kinds of synchronisation (kinds.c) ------------------------------------------------------ */

/* What synchronisations use. */
struct syncbench_team {
    struct bc_coarray coarray;
    struct bc_mutex lock;
    struct bc_queue_lock critical; /* of the critical section */
    struct bc_images images;       /* the neighbours */
    MPI_Win window;                /* of MPI's one-sided synchronisations; made by `open` */
    MPI_Group group;               /* the neighbours, for post and start; made by `open` */
};

typedef void syncbench_fn(struct syncbench_team *team);

struct syncbench_kind {
    const char *name;
    enum syncbench_set set;
    /* One synchronisation is enter, then leave; the delay comes before both, or, where ranks take
       turns, between them. */
    syncbench_fn *enter, *leave;
    /* Make and free what `enter` and `leave` need beside the team's; NULL: nothing. Collective. */
    syncbench_fn *open, *close;
    bool may_not_wait; /* MPI allows that a rank comes out before the others have come in, and some
                          libraries do that: tests/mpi_defects/allreduce_nothing.c */
};

enum { SYNCBENCH_KINDS = 14 };
extern const struct syncbench_kind syncbench_kinds[SYNCBENCH_KINDS];

/* Does nothing, but costs a call: stands for the synchronisation in the reference loop. */
void syncbench_nothing(struct syncbench_team *team);

/* Whether a kind synchronises (check.c): synchronises 20 times, each time with other ranks that
   come 0.3 ms late, and returns the number of errors on this rank: it was let out before a rank
   that it waits for had come in, or, where ranks take turns, a count that they keep together is
   wrong. Collective over MPI_COMM_WORLD. */
int64_t syncbench_check(const struct bc_job *job, const struct syncbench_kind *kind,
                        struct syncbench_team *team);

/* ---- the timed loops (kernel.c) -------------------------------------------------------------- */

/* A loop of `inner` repetitions. Where ranks take turns each rank makes its share of them, and
   in the reference loop one rank makes all of them. */
struct syncbench_loop {
    const struct bc_run *run; /* its window starts the loop; without one a barrier does */
    const struct syncbench_kind *kind;
    struct syncbench_team *team;
    int64_t inner;
    uint64_t delay_units; /* of work, in each repetition */
};

/* The quantities of a round. */
enum syncbench_quantity { SYNCBENCH_LOOP, SYNCBENCH_REFERENCE, SYNCBENCH_QUANTITIES };

/* The time in ns of the loop with its synchronisations, and of the reference loop, which has none.
   Call after a barrier, unless there is a window: these functions wait for it. Collective. */
double syncbench_time_loop(const struct syncbench_loop *loop);
double syncbench_time_reference(const struct syncbench_loop *loop);

/* ---- a row (measure.c, columns.c) ------------------------------------------------------------ */

/* What a row is of, and remembers from visit to visit. */
struct syncbench_row {
    const struct syncbench_kind *kind;
    int n;                     /* neighbours in a ring */
    int neighbours;            /* those that there are */
    struct bc_batch_row loops; /* of both quantities; `wrong`: errors of checks */
};

/* Times are in ns a repetition. What comes from samples is on rank 0 only. */
struct syncbench_result {
    const char *kind;
    int neighbours, ranks;
    int64_t inner;
    struct bc_summary reference, loop;
    struct bc_summary sync; /* p99 and max are of loops of one repetition (common/measure/batch.h),
                               in which each rank has one turn where ranks take turns */
    int64_t outliers;       /* samples of the loop beyond 3 sd */
    const char *check;
    struct bc_outcome outcome;
};

extern const struct bc_table syncbench_table;

/* One visit within `seconds` (significant on rank 0). Loop and reference are timed in turn; a
   sample is the difference of two that follow one another. `inner` of the loop is the number of
   repetitions, or, if `shrinks`, its max; the first visit finds the number then. Collective over
   MPI_COMM_WORLD. */
void syncbench_visit(const struct syncbench_loop *loop, bool shrinks, double seconds,
                     struct syncbench_row *row);

/* Makes the result of all visits and frees what the row holds. Under the mean the synchronisation
   is the difference of the means and its interval 1.96 (sd + reference sd) to both sides, as
   specified. Local. */
void syncbench_conclude(const struct bc_run *run, struct syncbench_row *row,
                        struct syncbench_result *result);
