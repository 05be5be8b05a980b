/*
 * The ways to swap halos: a row in a table each, with functions that do one swap, at once or in two
 * parts, and those that make and free what it needs.
 *
 * put, get: on coarrays, with a synchronisation before and after, as in the specification, the EPCC
 * suite (common/coarray/coarray.h). The others are what MPI programs choose between.
 */
#pragma once

#include "common/coarray/coarray.h"
#include "common/device/device.h"
#include "common/run/run.h"
#include "common/halo_swap/box.h"

#include <mpi.h>

/* Where this rank's array lies, and the buffers of packed faces. All zeros: in host memory. */
struct halo_space {
    struct bc_device *device; /* NULL: no rank's array lies on a device */
    enum bc_memory memory;
    bool staged; /* MPI gets host memory only: halo_method_packed copies what lies on a device */
    bool checks; /* halo_prepare and halo_is_right are called */
};

/* One rank's part in swaps of one box by one method. */
struct halo_exchange {
    const struct halo_method *method; /* may be another one than was asked for, on a device */
    struct halo_space space;
    struct halo_box box; /* the same on every rank */
    struct halo_grid grid;
    MPI_Comm comm;                  /* Cartesian and periodic, with the grid's ranks */
    MPI_Comm node_comm;             /* the ranks of this node */
    int64_t array[HALO_DIRECTIONS]; /* extents of `values` */
    struct halo_region sent[HALO_FACES], received[HALO_FACES];

    /* The method's: made by its create. */
    double *values; /* the array, halo included */
    void *own;
    MPI_Request *requests; /* of a swap between start and finish; NULL without these */
    int request_count;     /* 0 without them */

    /* Of checks, where kernels reach the array; else NULL. */
    double *image;   /* what the array must hold, in host memory */
    double *filling; /* the same on the device */
};

/* Makes the array, all zeros, and what swaps need. `space` NULL: in host memory. Collective over
   `comm`; the communicators and the device stay the caller's. */
void halo_exchange_create(struct halo_exchange *exchange, const struct halo_method *method,
                          const struct halo_box *box, const struct halo_grid *grid, MPI_Comm comm,
                          MPI_Comm node_comm, const struct halo_space *space);

/* Frees it. Collective. */
void halo_exchange_destroy(struct halo_exchange *exchange);

/* ---- methods --------------------------------------------------------------------------------- */

struct halo_method {
    const char *name; /* rows that differ in sync share it */
    enum bc_coarray_sync sync;

    /* The method's part of halo_exchange_create. */
    void (*create)(struct halo_exchange *exchange);
    /* Sends the box's layers and receives the halo's, all six. When it returns the halo is complete
       and the box may be written. Collective, without being a barrier. The timed kernel of halo. */
    void (*swap)(const struct halo_exchange *exchange);
    /* The same swap in two parts, with time for work in between; both NULL for put, get and shared
       window. From `start` to the return of `finish` the box must not be written, the halo not be
       accessed, and no other swap started on the communicator. The caller may test the exchange's
       requests. Each start needs its finish, also when tests have completed all requests: packed
       faces are unpacked there. Collective, without being barriers. */
    void (*start)(const struct halo_exchange *exchange);
    void (*finish)(const struct halo_exchange *exchange);
    /* The same swap by blocking calls: one MPI_Neighbor_alltoallw, or six MPI_Sendrecv, each of
       which sends one face and receives the opposite side of the halo. NULL where `start` is. */
    void (*blocking)(const struct halo_exchange *exchange);
    /* The method's part of halo_exchange_destroy. */
    void (*destroy)(struct halo_exchange *exchange);

    bool may_misplace; /* halo_note_misplaced may have something to say */
    bool missing;      /* the MPI library lacks what it calls */
    bool persistent;   /* its requests are made by `create` and started by each swap */
    bool in_window;    /* the array is in a window, maybe in /dev/shm */
    bool shares_node;  /* only for neighbours that share a node */
    bool packs;        /* faces, or those of other nodes, go through buffers */
};

/* datatypes.c */
extern const struct halo_method halo_method_put_all, halo_method_put_images;
extern const struct halo_method halo_method_get_all, halo_method_get_images;
extern const struct halo_method halo_method_types, halo_method_persistent, halo_method_neighbor;
/* packed.c */
extern const struct halo_method halo_method_packed, halo_method_shared;
/* on_device.c: halo_method_packed where a kernel has to copy the faces; without `start` */
extern const struct halo_method halo_method_packed_on_device, halo_method_staged;

/* For these files: `start` and `finish`; and memory of the exchange's kind for `count` values, at
   the start of a page as in a window, and all zeros. */
void halo_swap_in_parts(const struct halo_exchange *exchange);
double *halo_allocate_values(const struct halo_exchange *exchange, int64_t count);
void halo_free_values(const struct halo_exchange *exchange, double *values);

enum { HALO_METHODS = 9 };
extern const struct halo_method *const halo_methods[HALO_METHODS];

/* Those of them that have a start. */
enum { HALO_METHODS_IN_PARTS = 4 };
extern const struct halo_method *const halo_methods_in_parts[HALO_METHODS_IN_PARTS];

/* Faces, of all ranks, by where the neighbour is. */
struct halo_neighbourhood {
    int64_t faces;
    int64_t on_node;  /* another rank of the same node */
    int64_t off_node; /* on another node */
};

/* Collective over `comm`; the same on every rank. */
struct halo_neighbourhood halo_neighbourhood_of(const struct halo_grid *grid, MPI_Comm comm,
                                                MPI_Comm node_comm);

/* ---- checks (check.c) ------------------------------------------------------------------------ */

/* The data of --check: fills the array for a swap, counted from 0, with values that tell where in
   the whole grid they belong, and in which swap; and, after it, says whether the six faces have the
   neighbours' values and nothing else has changed. On a device a kernel fills the array and has
   ended when halo_prepare returns; what came is compared by a kernel and by a copy. Local. */
void halo_prepare(const struct halo_exchange *exchange, int64_t swap);
bool halo_is_right(const struct halo_exchange *exchange, int64_t swap);

/* For halo_exchange_create and halo_exchange_destroy: what checks need on a device. */
void halo_check_create(struct halo_exchange *exchange);
void halo_check_destroy(struct halo_exchange *exchange);

/* Notes that the MPI library brings faces to the opposite side of the halo, which --check alone
   would show: by `swap` and `blocking`, or, if `in_parts`, by `start` and `finish`, which may
   differ (Open MPI 4.1.4). The note begins with `which` and the method's name. Collective over
   `comm`. */
void halo_note_misplaced(const struct halo_method *method, bool in_parts, const char *which,
                         const struct halo_grid *grid, MPI_Comm comm, struct bc_output *output);
