#include "halo/swap/box.h"

#include "common/layout/grid.h"
#include "common/large_count/large_count.h"

#include <math.h>

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
    int64_t values = 1;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        if (d != halo_direction(face))
            values *= box->extent[d];
    return values;
}

int64_t halo_ndata(const struct halo_box *box)
{
    int64_t values = 0;
    for (int face = 0; face < HALO_FACES; face++)
        values += halo_face_values(box, face);
    return values;
}

bool halo_is_possible(const struct halo_box *box)
{
    double values = 1.0;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        if (box->extent[d] < 1)
            return false;
        values *= (double)box->extent[d] + 2.0;
    }
    return values <= BC_ELEMENTS_MAX;
}

double halo_needed_bytes(const struct halo_box *box, bool packs)
{
    const int64_t buffers = packs ? 2 * halo_ndata(box) : 0;
    return (double)sizeof(double) * (double)(halo_array_values(box) + buffers);
}

int64_t halo_largest_cube(double bytes, bool packs)
{
    /* The box alone would fit; its halo and buffers take a few values off. */
    const double beyond = fmin(fmax(0.0, bytes) / (double)sizeof(double), BC_ELEMENTS_MAX);
    int64_t extent = (int64_t)cbrt(beyond);
    for (; extent > 0; extent--) {
        const struct halo_box cube = {{extent, extent, extent}};
        if (halo_is_possible(&cube) && halo_needed_bytes(&cube, packs) <= bytes)
            break;
    }
    return extent;
}

/* The face of the box, moved to this position of the face's direction. */
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
