/*
 * The periodic grid of processes: who holds which box, and who is next to whom. Pure.
 */
#ifndef COMMCOST_HALO_GRID_H
#define COMMCOST_HALO_GRID_H

#include "halo/box.h"

/* A rank's place in the grid. */
struct halo_grid {
    int dims[HALO_DIRECTIONS];   /* processes in each direction */
    int coords[HALO_DIRECTIONS]; /* from 0 on */
    int neighbours[HALO_FACES];  /* ranks: with one process in a direction this
                                    one on both sides, with two the same one */
};

/* Ranks count as in MPI_Cart_create, the last direction fastest. There must be
   dims[0] * dims[1] * dims[2] of them. */
struct halo_grid halo_grid_of(const int dims[HALO_DIRECTIONS], int rank);

/* The position, in this direction, of the whole grid's values, from 0 on, that a position of this
   rank's array stands for; the halo's are those of the neighbours. */
int64_t halo_global_position(const struct halo_grid *grid, const struct halo_box *box,
                             int direction, int64_t position);

#endif
