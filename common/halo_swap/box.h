/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Box of a rank, its six faces, and the periodic grid of processes. All functions are pure; extents
 * and indices are in values.
 *
 * The array that holds the box has one more layer of values on each side, the halo. The box's own
 * positions are 1 to its extent in each direction. The last direction is contiguous. Face 2 d is
 * the lower face of direction d, face 2 d + 1 the upper face, in the order of the neighbours of a
 * Cartesian communicator.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { HALO_DIRECTIONS = 3, HALO_FACES = 2 * HALO_DIRECTIONS };

/* Extents without the halo, each at least 1. */
struct halo_box {
    int64_t extent[HALO_DIRECTIONS];
};

/* A part of the array, by positions. */
struct halo_region {
    int64_t start[HALO_DIRECTIONS];
    int64_t extent[HALO_DIRECTIONS];
};

static inline int halo_direction(int face) { return face / 2; }

/* Returns the face on the other side, where the neighbour receives this face. */
static inline int halo_opposite(int face) { return face ^ 1; }

/* Return an extent of the array, halo included, and the number of values in it. */
static inline int64_t halo_array_extent(const struct halo_box *box, int direction)
{
    return box->extent[direction] + 2;
}
int64_t halo_array_values(const struct halo_box *box);

/* Returns the index of a position in the array. */
int64_t halo_place(const struct halo_box *box, const int64_t position[HALO_DIRECTIONS]);

/* Return the number of values of a face, and of all six faces. */
int64_t halo_face_values(const struct halo_box *box, int face);
int64_t halo_ndata(const struct halo_box *box);

/* Return the box's own layer at a face, which is sent, and the halo's layer beyond it, where the
   neighbour's layer is received. Edges and corners of the halo are in neither. */
struct halo_region halo_sent(const struct halo_box *box, int face);
struct halo_region halo_received(const struct halo_box *box, int face);

struct halo_grid {
    int dims[HALO_DIRECTIONS]; /* processes in each direction */
    int rank;
    int coords[HALO_DIRECTIONS]; /* from 0 */
    int neighbours[HALO_FACES];  /* ranks: this rank if a direction has one process; one rank twice
                                    if it has two */
};

/* Returns a rank's grid, in the order of MPI_Cart_create. `dims` multiply to the rank count. */
struct halo_grid halo_grid_of(const int dims[HALO_DIRECTIONS], int rank);

/* Copy a region of an array into a buffer without gaps, and back. */
void halo_pack(const struct halo_box *box, const struct halo_region *region, const double *values,
               double *buffer);
void halo_unpack(const struct halo_box *box, const struct halo_region *region, const double *buffer,
                 double *values);

/* Copies a region of one array to an equal region of another array, or of the same array if the
   regions don't overlap. Both arrays have this box. */
void halo_copy(const struct halo_box *box, const struct halo_region *from, const double *source,
               const struct halo_region *to, double *destination);
