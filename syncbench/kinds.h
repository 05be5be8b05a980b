/*
 * The ways to synchronise: one function for each and a row in a table.
 *
 * Specification: the EPCC Fortran coarray micro-benchmark suite (D. Henty, "A Parallel Benchmark
 * Suite for Fortran Coarrays", Applications, Tools and Techniques on the Road to Exascale
 * Computing, IOS Press, 2012). The coarrays are those of common/mpi/coarray.h. MPI's own
 * synchronisations stand beside them.
 */
#ifndef COMMCOST_SYNCBENCH_KINDS_H
#define COMMCOST_SYNCBENCH_KINDS_H

#include "common/mpi/coarray.h"
#include "syncbench/neighbours.h"

#include <stdbool.h>

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

#endif
