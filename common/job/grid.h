/* SPDX-License-Identifier: BSD-3-Clause */
/* Periodic three-dimensional grids of processes, with ranks in the order of MPI_Cart_create: the
   last coordinate changes fastest. */
#pragma once

#include <stddef.h>

enum { BC_GRID_DIMENSIONS = 3, BC_GRID_SIDES = 6 };

/* Finds the neighbours of a rank, as MPI_Cart_shift by 1 does: down and up in each dimension. If a
   dimension has one rank, both neighbours are this rank; if it has two, both are the other rank.
   The product of `dims` is the number of ranks. Local. */
static inline void bc_grid_neighbours(const int dims[BC_GRID_DIMENSIONS], int rank,
                                      int neighbours[BC_GRID_SIDES])
{
    int stride = 1; /* number of ranks from one coordinate to the next */
    for (int d = BC_GRID_DIMENSIONS - 1; d >= 0; d--) {
        int *const sides = neighbours + (ptrdiff_t)2 * d;
        const int here = rank / stride % dims[d];
        sides[0] = rank + ((here + dims[d] - 1) % dims[d] - here) * stride;
        sides[1] = rank + ((here + 1) % dims[d] - here) * stride;
        stride *= dims[d];
    }
}
