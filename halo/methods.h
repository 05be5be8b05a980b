/*
 * The ways to swap halos: a row in a table each, with a function that does one swap and those that
 * make and free what it needs.
 *
 * put, get: on coarrays, with a synchronisation before and after, as in the specification: the EPCC
 * Fortran coarray micro-benchmark suite (D. Henty, "A Parallel Benchmark Suite for Fortran
 * Coarrays", Applications, Tools and Techniques on the Road to Exascale Computing, IOS Press,
 * 2012). The others are what MPI programs choose between.
 */
#ifndef COMMCOST_HALO_METHODS_H
#define COMMCOST_HALO_METHODS_H

#include "halo/exchange.h"

#include <stdbool.h>

enum halo_sync {
    HALO_SYNC_ALL,
    HALO_SYNC_IMAGES, /* among neighbours */
    HALO_SYNC_NONE,   /* the messages themselves */
    HALO_SYNCS
};

/* "all", "images", "none". */
extern const char *const halo_sync_names[HALO_SYNCS];

struct halo_method {
    const char *name; /* rows that differ in sync share it */
    enum halo_sync sync;
    bool missing;     /* the MPI library lacks what it calls */
    bool in_window;   /* the array is in a window, maybe in /dev/shm */
    bool shares_node; /* only for neighbours that share a node */
    bool packs;       /* faces, or those of other nodes, go through buffers */

    /* Makes the array, all zeros, and what the swap needs. Collective over the
       exchange's communicator. */
    void (*create)(struct halo_exchange *exchange);

    /* Sends the box's layers and receives the halo's, all six. When it returns the halo is complete
       and the box may be written. Collective, without being a barrier. The timed kernel. */
    void (*swap)(const struct halo_exchange *exchange);

    /* Frees it. Collective. */
    void (*destroy)(struct halo_exchange *exchange);

    /* Whether the MPI library brings each face to its side of the halo; NULL where that doesn't
       depend on it. Collective over the grid's communicator; the same answer on all ranks. */
    bool (*is_right)(const struct halo_grid *grid, MPI_Comm comm);
};

enum { HALO_METHODS = 9 };
extern const struct halo_method halo_methods[HALO_METHODS];

#endif
