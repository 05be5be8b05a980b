/*
 * The ways to move the data of a ping-pong: ten by put, the same ten by get, and MPI_Send; one
 * function for each and a row in a table.
 *
 * "sub": through a function that can't be inlined; "simple": one that takes the count alone; "all":
 * a coarray of exactly the data's size; "many": a transfer for each block.
 *
 * Specification: the EPCC Fortran coarray micro-benchmark suite (D. Henty, "A Parallel Benchmark
 * Suite for Fortran Coarrays", Applications, Tools and Techniques on the Road to Exascale
 * Computing, IOS Press, 2012).
 */
#pragma once

#include "common/coarray/coarray.h"
#include "common/large_count/large_count.h"
#include "pingpong/shape.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum pingpong_sync {
    PINGPONG_SYNC_ALL,
    PINGPONG_SYNC_IMAGES,
    PINGPONG_SYNC_NONE, /* MPI Send: the message itself */
    PINGPONG_SYNCS
};

/* One rank's end of a ping-pong. */
struct pingpong_game {
    const struct pingpong_pattern *pattern;
    enum pingpong_sync sync;
    struct bc_coarray *coarray; /* of at least nextent values */
    struct pingpong_shape shape;
    MPI_Datatype section;         /* of PINGPONG_STRIDED, whose patterns move it at once */
    struct bc_amount message;     /* of MPI_Send: the shape's values */
    struct bc_images partners;    /* the partner alone */
    int partner;                  /* -1: idle */
    bool starts;                  /* else moves the data back */
    const MPI_Comm *participants; /* the ranks that are not idle; MPI_COMM_NULL on an idle rank,
                                which need not wait where it takes no part in the synchronisation.
                                NULL: all ranks wait for all */
};

/* Moves the data once, to the partner or from it, without waiting. */
typedef void pingpong_move_fn(struct pingpong_game *game);

struct pingpong_pattern {
    const char *name;
    enum pingpong_sweep sweep;
    pingpong_move_fn *move; /* NULL: MPI_Send */
    bool gets;              /* the rank that moves the data reads it from its partner */
    bool exact;             /* the coarray has exactly the data's size */
};

enum { PINGPONG_PATTERNS = 21 };
extern const struct pingpong_pattern pingpong_patterns[PINGPONG_PATTERNS];
