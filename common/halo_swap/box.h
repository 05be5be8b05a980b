/*
 * The local box of a rank and its six faces: what a swap sends, and where it is received; and the
 * periodic grid of processes: who holds which box, and who is next to whom. Pure; extents and
 * places are in values.
 *
 * The array that holds the box has one more layer of values on each side, the halo. Its positions
 * count from 0 in each direction, so the box's own are 1 to its extent. The last direction is
 * contiguous, as in C. Face 2 d is the lower one of direction d and face 2 d + 1 the upper one,
 * which is the order in which MPI numbers the neighbours in a Cartesian communicator.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { HALO_DIRECTIONS = 3, HALO_FACES = 2 * HALO_DIRECTIONS };

/* Without the halo; every extent at least 1. */
struct halo_box {
    int64_t extent[HALO_DIRECTIONS];
};

/* A part of the array, by positions. */
struct halo_region {
    int64_t start[HALO_DIRECTIONS];
    int64_t extent[HALO_DIRECTIONS];
};

static inline int halo_direction(int face) { return face / 2; }

/* The face on the other side, where the neighbour receives what a rank sends from this face. */
static inline int halo_opposite(int face) { return face ^ 1; }

/* The extents of the array, halo included, and the values in it. */
static inline int64_t halo_array_extent(const struct halo_box *box, int direction)
{
    return box->extent[direction] + 2;
}
int64_t halo_array_values(const struct halo_box *box);

/* Where a position lies in the array. */
int64_t halo_place(const struct halo_box *box, const int64_t position[HALO_DIRECTIONS]);

/* The values of a face; and those of all six, which a rank sends, and receives, in a swap. */
int64_t halo_face_values(const struct halo_box *box, int face);
int64_t halo_ndata(const struct halo_box *box);

/* The box's own layer at a face, which is sent to the neighbour there; and the halo's layer beyond
   it, where what that neighbour sends is received. Edges and corners of the halo are in neither. */
struct halo_region halo_sent(const struct halo_box *box, int face);
struct halo_region halo_received(const struct halo_box *box, int face);

/* A rank's place in the grid. */
struct halo_grid {
    int dims[HALO_DIRECTIONS]; /* processes in each direction */
    int rank;
    int coords[HALO_DIRECTIONS]; /* from 0 on */
    int neighbours[HALO_FACES];  /* ranks: with one process in a direction this one on both sides,
                                    with two the same one */
};

/* Ranks count as in MPI_Cart_create; the product of `dims` must be their number. */
struct halo_grid halo_grid_of(const int dims[HALO_DIRECTIONS], int rank);

/* Copies the region of an array into a buffer, without gaps, in the array's order; and back. */
void halo_pack(const struct halo_box *box, const struct halo_region *region, const double *values,
               double *buffer);
void halo_unpack(const struct halo_box *box, const struct halo_region *region, const double *buffer,
                 double *values);

/* Copies a region of one array to one of the same extents of another, or of the same array if they
   don't overlap; the box is both arrays'. */
void halo_copy(const struct halo_box *box, const struct halo_region *from, const double *source,
               const struct halo_region *to, double *destination);
