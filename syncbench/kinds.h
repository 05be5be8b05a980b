/*
 * The ways to synchronise: one function for each and a row in a table; and which ranks synchronise.
 *
 * Specification: the EPCC Fortran coarray micro-benchmark suite (D. Henty, "A Parallel Benchmark
 * Suite for Fortran Coarrays", Applications, Tools and Techniques on the Road to Exascale
 * Computing, IOS Press, 2012). The coarrays are those of common/coarray/coarray.h. MPI's own
 * synchronisations stand beside them.
 */
#pragma once

#include "common/coarray/coarray.h"

#include <stdbool.h>
#include <stdint.h>

/* Which ranks a rank synchronises with; a rank is a neighbour of its neighbours. */
enum syncbench_set {
    SYNCBENCH_EVERYONE, /* all ranks */
    SYNCBENCH_NOBODY,   /* no rank waits for another */
    SYNCBENCH_TURNS,    /* all ranks, one after the other */
    SYNCBENCH_PAIR,     /* r and r + P / 2, as places of common/layout/node_order.h */
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

/* What synchronisations use. */
struct syncbench_team {
    struct bc_coarray *coarray;
    struct bc_images images; /* the neighbours */
    struct bc_mutex *lock;
    struct bc_queue_lock *critical; /* of the critical section */
    MPI_Win window;                 /* of MPI's one-sided synchronisations; made by `open` */
    MPI_Group group;                /* the neighbours, for post and start; made by `open` */
};

typedef void syncbench_fn(struct syncbench_team *team);

struct syncbench_kind {
    const char *name;
    enum syncbench_set set;
    /* One synchronisation is enter, then leave; the delay comes before both, or, where ranks take
       turns, between them. Either may be syncbench_nothing. */
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

/* Whether a kind synchronises: synchronises 20 times, each time with other ranks that come 0.3 ms
   late, and returns the number of errors on this rank: it was let out before a rank
   that it waits for had come in, or, where ranks take turns, two were in at once and a count that
   they keep together is wrong. There are no errors where no rank waits for another. Where all wait
   for all, a rank looks at log2(P) of the others, and puts log2(P) values in each synchronisation.
   Collective over MPI_COMM_WORLD. */
int64_t syncbench_check(const struct syncbench_kind *kind, struct syncbench_team *team);
