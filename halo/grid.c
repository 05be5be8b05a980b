#include "halo/grid.h"

#include "common/mpi/grid.h"

struct halo_grid halo_grid_of(const int dims[HALO_DIRECTIONS], int rank)
{
    _Static_assert((int)HALO_FACES == (int)BC_GRID_SIDES, "a neighbour for each face");
    struct halo_grid grid;
    bc_grid_neighbours(dims, rank, grid.neighbours);
    for (int d = HALO_DIRECTIONS - 1; d >= 0; d--) {
        grid.dims[d] = dims[d];
        grid.coords[d] = rank % dims[d];
        rank /= dims[d];
    }
    return grid;
}

int64_t halo_global_position(const struct halo_grid *grid, const struct halo_box *box,
                             int direction, int64_t position)
{
    const int64_t local = box->extent[direction];
    const int64_t global = local * grid->dims[direction];
    return (grid->coords[direction] * local + position - 1 + global) % global;
}
