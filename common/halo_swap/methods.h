/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Methods of halo exchange: each is a table of functions that exchange in one call or in two parts.
 *
 * put, get: coarrays with a synchronisation before and after, as in the EPCC suite
 * (common/coarray/coarray.h). The other methods are common in MPI programs.
 */
#pragma once

#include "common/coarray/coarray.h"
#include "common/device/device.h"
#include "common/run/run.h"
#include "common/halo_swap/box.h"

#include <mpi.h>

/* Memory of this rank's array and of packed faces. All zeros: host memory. */
struct halo_space {
    struct bc_device *device; /* NULL: no rank's array lies on a device */
    enum bc_memory memory;
    bool staged; /* MPI gets host memory only: halo_method_packed copies arrays on a device */
    bool checks; /* halo_prepare and halo_is_right are called */
};

/* One rank's part in swaps of one box by one method. */
struct halo_exchange {
    const struct halo_method *method; /* on a device perhaps not the requested one */
    struct halo_space space;
    struct halo_box box; /* the same on every rank */
    struct halo_grid grid;
    MPI_Comm comm;                  /* Cartesian and periodic, with the grid's ranks */
    MPI_Comm node_comm;             /* the ranks of this node */
    int64_t array[HALO_DIRECTIONS]; /* extents of `values` */
    struct halo_region sent[HALO_FACES], received[HALO_FACES];

    /* Made by the method's create. */
    double *values; /* the array, halo included */
    void *own;
    MPI_Request *requests; /* open between start and finish, or NULL */
    int request_count;     /* 0 if `requests` is NULL */

    /* For checks of arrays that are not in BC_MEMORY_HOST; else NULL. */
    double *image;   /* required contents of the array, in host memory */
    double *filling; /* the same contents, on the device */
};

/* Makes the array, all zeros, and all that exchanges need, in host memory if `space` is NULL.
   Collective over `comm`; the communicators and the device remain the caller's. */
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
    /* Sends six layers of the box and receives six faces of the halo. On return the halo is
       complete and the box may be written. Collective, without being a barrier. The timed kernel of
       halo. */
    void (*swap)(const struct halo_exchange *exchange);
    /* The same exchange in two parts; NULL for put, get and shared window. Between them the box
       must not be written, the halo must not be accessed, and the communicator must have no other
       exchange. Each start needs its finish, even if tests have completed all requests. */
    void (*start)(const struct halo_exchange *exchange);
    void (*finish)(const struct halo_exchange *exchange);
    /* The same exchange by blocking calls: one MPI_Neighbor_alltoallw, or six MPI_Sendrecv that
       each send one face and receive the opposite one. NULL if `start` is. */
    void (*blocking)(const struct halo_exchange *exchange);
    /* The method's part of halo_exchange_destroy. */
    void (*destroy)(struct halo_exchange *exchange);

    bool may_misplace; /* some libraries mix up its faces */
    bool missing;      /* the MPI library lacks what it calls */
    bool persistent;   /* `create` makes requests, each exchange starts them */
    bool in_window;    /* the array is in a window, maybe in /dev/shm */
    bool shares_node;  /* only for neighbours that share a node */
    bool packs;        /* packs faces, or those that cross nodes, into buffers */
};

/* datatypes.c */
extern const struct halo_method halo_method_put_all, halo_method_put_images;
extern const struct halo_method halo_method_get_all, halo_method_get_images;
extern const struct halo_method halo_method_types, halo_method_persistent, halo_method_neighbor;
/* packed.c */
extern const struct halo_method halo_method_packed, halo_method_shared;
/* on_device.c: halo_method_packed with kernels that copy the faces; without `start` */
extern const struct halo_method halo_method_packed_on_device, halo_method_staged;

/* For these files: an exchange by `start` and `finish`, and a buffer of zeros of the exchange's
   kind for `count` values. */
void halo_swap_in_parts(const struct halo_exchange *exchange);
double *halo_allocate_values(const struct halo_exchange *exchange, int64_t count);
void halo_free_values(const struct halo_exchange *exchange, double *values);

enum { HALO_METHODS = 9 };
extern const struct halo_method *const halo_methods[HALO_METHODS];

/* Methods with a `start`. */
enum { HALO_METHODS_IN_PARTS = 4 };
extern const struct halo_method *const halo_methods_in_parts[HALO_METHODS_IN_PARTS];

/* Number of faces of all ranks, by the location of the neighbour. */
struct halo_neighbourhood {
    int64_t faces;
    int64_t on_node;  /* another rank of the same node */
    int64_t off_node; /* on another node */
};

/* Counts the faces. Collective over `comm`; the same on every rank. */
struct halo_neighbourhood halo_neighbourhood_of(const struct halo_grid *grid, MPI_Comm comm,
                                                MPI_Comm node_comm);

/* ---- checks (check.c) ------------------------------------------------------------------------ */

/* Fill the array for an exchange, counted from 0, with values that encode the place in the whole
   grid and the exchange; and return true afterwards if the six faces have the neighbours' values
   and nothing else has changed. A device's array is filled by a kernel, and compared by a kernel
   and by a copy. Local. */
void halo_prepare(const struct halo_exchange *exchange, int64_t swap);
bool halo_is_right(const struct halo_exchange *exchange, int64_t swap);

void halo_check_create(struct halo_exchange *exchange);
void halo_check_destroy(struct halo_exchange *exchange);

/* Notes if the MPI library mixes up opposite faces of a method that may be misplaced: in `swap` and
   `blocking`, or, if `in_parts`, in `start` and `finish`, which may differ (Open MPI 4.1.4). The
   note begins with `which` and the method's name. Collective over `comm`. */
void halo_note_misplaced(const struct halo_method *method, bool in_parts, const char *which,
                         const struct halo_grid *grid, MPI_Comm comm, struct bc_output *output);
