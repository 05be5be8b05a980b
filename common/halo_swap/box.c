/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/halo_swap/box.h"

#include "common/job/grid.h"

int64_t halo_array_values(const struct halo_box *box)
{
    int64_t values = 1;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        values *= halo_array_extent(box, d);
    return values;
}

int64_t halo_place(const struct halo_box *box, const int64_t position[HALO_DIRECTIONS])
{
    int64_t place = 0;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        place = place * halo_array_extent(box, d) + position[d];
    return place;
}

int64_t halo_face_values(const struct halo_box *box, int face)
{
    const int across = halo_direction(face);
    return box->extent[(across + 1) % HALO_DIRECTIONS] *
           box->extent[(across + 2) % HALO_DIRECTIONS];
}

int64_t halo_ndata(const struct halo_box *box)
{
    int64_t values = 0;
    for (int face = 0; face < HALO_FACES; face++)
        values += halo_face_values(box, face);
    return values;
}

/* Returns the plane parallel to `face` at `position`. */
static struct halo_region layer(const struct halo_box *box, int face, int64_t position)
{
    struct halo_region region = {{1, 1, 1}, {box->extent[0], box->extent[1], box->extent[2]}};
    region.start[halo_direction(face)] = position;
    region.extent[halo_direction(face)] = 1;
    return region;
}

struct halo_region halo_sent(const struct halo_box *box, int face)
{
    return layer(box, face, face % 2 == 0 ? 1 : box->extent[halo_direction(face)]);
}

struct halo_region halo_received(const struct halo_box *box, int face)
{
    return layer(box, face, face % 2 == 0 ? 0 : box->extent[halo_direction(face)] + 1);
}

struct halo_grid halo_grid_of(const int dims[HALO_DIRECTIONS], int rank)
{
    _Static_assert((int)HALO_FACES == (int)BC_GRID_SIDES, "a neighbour for each face");
    struct halo_grid grid = {.rank = rank};
    bc_grid_neighbours(dims, rank, grid.neighbours);
    for (int d = HALO_DIRECTIONS - 1; d >= 0; d--) {
        grid.dims[d] = dims[d];
        grid.coords[d] = rank % dims[d];
        rank /= dims[d];
    }
    return grid;
}
