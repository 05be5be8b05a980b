/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/halo_swap/box.h"

#include <string.h>

/* Distances in values from plane to plane and from row to row. Rows are contiguous. */
struct strides {
    int64_t plane, row;
};

static struct strides of_array(const struct halo_box *box)
{
    const int64_t row = halo_array_extent(box, 2);
    return (struct strides){halo_array_extent(box, 1) * row, row};
}

static struct strides of_buffer(const struct halo_region *region)
{
    return (struct strides){region->extent[1] * region->extent[2], region->extent[2]};
}

/* Copies rows of one value by assignment, since a call for each would dominate. */
static void copy(const int64_t *extent, const double *restrict source, struct strides from,
                 double *restrict destination, struct strides to)
{
    const size_t row_bytes = (size_t)extent[2] * sizeof(double);
    if (extent[2] > 1)
        for (int64_t i = 0; i < extent[0]; i++)
            for (int64_t j = 0; j < extent[1]; j++)
                memcpy(destination + i * to.plane + j * to.row,
                       source + i * from.plane + j * from.row, row_bytes);
    else
        for (int64_t i = 0; i < extent[0]; i++)
            for (int64_t j = 0; j < extent[1]; j++)
                destination[i * to.plane + j * to.row] = source[i * from.plane + j * from.row];
}

void halo_pack(const struct halo_box *box, const struct halo_region *region, const double *values,
               double *buffer)
{
    copy(region->extent, values + halo_place(box, region->start), of_array(box), buffer,
         of_buffer(region));
}

void halo_unpack(const struct halo_box *box, const struct halo_region *region, const double *buffer,
                 double *values)
{
    copy(region->extent, buffer, of_buffer(region), values + halo_place(box, region->start),
         of_array(box));
}

void halo_copy(const struct halo_box *box, const struct halo_region *from, const double *source,
               const struct halo_region *to, double *destination)
{
    copy(from->extent, source + halo_place(box, from->start), of_array(box),
         destination + halo_place(box, to->start), of_array(box));
}
