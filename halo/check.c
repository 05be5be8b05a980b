#include "halo/check.h"

#define UNTOUCHED (-1.0)

/* Swaps until values come again. */
#define SWAPS_TOLD_APART 64

/* The values of the whole grid in this direction. */
static int64_t global_extent(const struct halo_exchange *x, int direction)
{
    return x->grid.dims[direction] * x->box.extent[direction];
}

static bool in_halo(const struct halo_exchange *x, int direction, int64_t position)
{
    return position == 0 || position > x->box.extent[direction];
}

/* What is at a position before a swap or after it: the box has values that tell
   where in the whole grid it is, and in which swap; so have the halo's faces after
   it, as their neighbours' have. Edges and corners are never touched. */
static double value_at(const struct halo_exchange *x, int64_t swap, bool after,
                       const int64_t position[HALO_DIRECTIONS])
{
    int64_t place = 0;
    int outside = 0;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        outside += in_halo(x, d, position[d]);
        place =
            place * global_extent(x, d) + halo_global_position(&x->grid, &x->box, d, position[d]);
    }
    if (outside > (after ? 1 : 0))
        return UNTOUCHED;
    return (double)(place * SWAPS_TOLD_APART + swap % SWAPS_TOLD_APART);
}

void halo_prepare(const struct halo_exchange *x, int64_t swap)
{
    double *value = x->values;
    int64_t p[HALO_DIRECTIONS];
    for (p[0] = 0; p[0] < halo_array_extent(&x->box, 0); p[0]++)
        for (p[1] = 0; p[1] < halo_array_extent(&x->box, 1); p[1]++)
            for (p[2] = 0; p[2] < halo_array_extent(&x->box, 2); p[2]++)
                *value++ = value_at(x, swap, false, p);
}

bool halo_is_right(const struct halo_exchange *x, int64_t swap)
{
    const double *value = x->values;
    int64_t p[HALO_DIRECTIONS];
    for (p[0] = 0; p[0] < halo_array_extent(&x->box, 0); p[0]++)
        for (p[1] = 0; p[1] < halo_array_extent(&x->box, 1); p[1]++)
            for (p[2] = 0; p[2] < halo_array_extent(&x->box, 2); p[2]++)
                if (*value++ != value_at(x, swap, true, p))
                    return false;
    return true;
}
