#include "halo/grid.h"

static int rank_at(const int dims[HALO_DIRECTIONS],
                   const int coords[HALO_DIRECTIONS])
{
    int rank = 0;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        rank = rank * dims[d] + coords[d];
    return rank;
}

/* The rank so many processes further in one direction, and round. */
static int rank_beside(const struct halo_grid *grid, int direction, int shift)
{
    const int dim = grid->dims[direction];
    int coords[HALO_DIRECTIONS];
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        coords[d] = grid->coords[d];
    coords[direction] = (coords[direction] + dim + shift) % dim;
    return rank_at(grid->dims, coords);
}

struct halo_grid halo_grid_of(const int dims[HALO_DIRECTIONS], int rank)
{
    struct halo_grid grid;
    for (int d = HALO_DIRECTIONS - 1; d >= 0; d--) {
        grid.dims[d] = dims[d];
        grid.coords[d] = rank % dims[d];
        rank /= dims[d];
    }
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        grid.neighbours[halo_lower(d)] = rank_beside(&grid, d, -1);
        grid.neighbours[halo_upper(d)] = rank_beside(&grid, d, 1);
    }
    return grid;
}

int64_t halo_global_position(const struct halo_grid *grid,
                             const struct halo_box *box, int direction,
                             int64_t position)
{
    const int64_t local = box->extent[direction];
    const int64_t global = local * grid->dims[direction];
    return (grid->coords[direction] * local + position - 1 + global) % global;
}
