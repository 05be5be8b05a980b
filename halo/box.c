#include "halo/box.h"

#include <limits.h>
#include <math.h>

int64_t halo_array_values(const struct halo_box *box)
{
    int64_t values = 1;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        values *= halo_array_extent(box, d);
    return values;
}

int64_t halo_place(const struct halo_box *box,
                   const int64_t position[HALO_DIRECTIONS])
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

double halo_needed_bytes(const struct halo_box *box)
{
    double values = 1.0;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        values *= (double)halo_array_extent(box, d);
    return (double)sizeof(double) * (values + 2.0 * (double)halo_ndata(box));
}

int64_t halo_largest_cube(double bytes)
{
    /* The box alone would fit; its halo and buffers take a few values off. */
    const double beyond = cbrt(fmax(0.0, bytes) / (double)sizeof(double));
    int64_t extent = (int64_t)fmin(beyond, floor(sqrt(INT_MAX)));
    while (extent > 0 &&
           halo_needed_bytes(&(struct halo_box){{extent, extent, extent}}) >
               bytes)
        extent--;
    return extent;
}

/* The layer of the box's width at this position of the face's direction. */
static struct halo_region layer(const struct halo_box *box, int face,
                                int64_t position)
{
    struct halo_region region;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        region.start[d] = 1;
        region.extent[d] = box->extent[d];
    }
    region.start[halo_direction(face)] = position;
    region.extent[halo_direction(face)] = 1;
    return region;
}

static int is_upper(int face)
{
    return face % 2;
}

struct halo_region halo_sent(const struct halo_box *box, int face)
{
    return layer(box, face,
                 is_upper(face) ? box->extent[halo_direction(face)] : 1);
}

struct halo_region halo_received(const struct halo_box *box, int face)
{
    return layer(box, face,
                 is_upper(face) ? box->extent[halo_direction(face)] + 1 : 0);
}
