/*
 * The ways to synchronise, which ranks synchronise, the timed loops, and a row: what a
 * synchronisation adds to a loop of delays.
 *
 * Specification: the EPCC suite (common/coarray/coarray.h). MPI's own synchronisations stand beside
 * those of coarrays.
 */
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
                          libraries do that: docs/clusters.md */
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

/* Times `repetitions` times a delay and a synchronisation. Collective. */
struct bc_span syncbench_time_delays(struct syncbench_team *team, syncbench_fn *enter,
                                     syncbench_fn *leave, uint64_t delay_units,
                                     int64_t repetitions);

/* Times `repetitions` turns, with the delay inside. Collective. */
struct bc_span syncbench_time_turns(struct syncbench_team *team, syncbench_fn *enter,
                                    syncbench_fn *leave, uint64_t delay_units, int64_t repetitions);

/* ---- a row (row.c, columns.c) ---------------------------------------------------------------- */

/* The quantities of a round: the loop with its synchronisations; the reference loop, which has
   none. A sample of the synchronisation is the difference. */
enum syncbench_quantity { SYNCBENCH_LOOP, SYNCBENCH_REFERENCE, SYNCBENCH_QUANTITIES };

extern const struct bc_precise_value syncbench_precise;

/* A row: its keys, and state kept between visits. */
struct syncbench_row {
    const struct syncbench_kind *kind;
    int n;                 /* neighbours in a ring */
    int neighbours;        /* those that there are */
    struct bc_store loops; /* of both quantities */
    int64_t wrong;         /* errors of checks, on this rank */
};

/* Times are in ns a repetition. What comes from samples is on rank 0 only. */
struct syncbench_result {
    const char *kind;
    int neighbours, ranks;
    int64_t inner;
    struct bc_summary reference, loop;
    struct bc_summary sync; /* p99 and max are of loops of one repetition, in which each rank has
                               one turn where ranks take turns */
    int64_t outliers;       /* samples of the loop beyond 3 sd */
    const char *check;
    struct bc_outcome outcome;
};

extern const struct bc_table syncbench_table;

/* Makes the result of all visits and frees what the row holds. Under the mean the synchronisation
   is the difference of the means and its interval 1.96 (sd + reference sd) to both sides, as
   specified. Local. */
void syncbench_conclude(const struct bc_run *run, struct syncbench_row *row,
                        struct syncbench_result *result);
