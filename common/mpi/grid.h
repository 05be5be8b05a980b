/*
 * Periodic three-dimensional process grids, ranks in the order of
 * MPI_Cart_create: the last coordinate runs fastest. Pure.
 */
#ifndef COMMCOST_COMMON_MPI_GRID_H
#define COMMCOST_COMMON_MPI_GRID_H

enum { BC_GRID_DIMENSIONS = 3, BC_GRID_SIDES = 6 };

/* The neighbours of a rank, down and up in each dimension: 0 and 1 in the first,
   2 and 3 in the second, 4 and 5 in the third. Where a dimension is 1 both are the
   rank itself, where it is 2 both are the same rank. The product of `dims` is the
   number of ranks. */
void bc_grid_neighbours(const int dims[BC_GRID_DIMENSIONS], int rank,
                        int neighbours[BC_GRID_SIDES]);

#endif
