#include "common/layout/grid.h"

#include <stddef.h>

void bc_grid_neighbours(const int dims[BC_GRID_DIMENSIONS], int rank, int neighbours[BC_GRID_SIDES])
{
    int stride = 1; /* in ranks, from one coordinate to the next */
    for (int d = BC_GRID_DIMENSIONS - 1; d >= 0; d--) {
        int *const sides = neighbours + (ptrdiff_t)2 * d;
        const int here = rank / stride % dims[d];
        const int down = (here + dims[d] - 1) % dims[d];
        const int up = (here + 1) % dims[d];
        sides[0] = rank + (down - here) * stride;
        sides[1] = rank + (up - here) * stride;
        stride *= dims[d];
    }
}
