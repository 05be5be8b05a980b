#include "halo/swap/methods.h"

#define UNTOUCHED (-1.0)

/* Swaps until values come again. */
#define SWAPS_TOLD_APART 64

/* What is at a position before a swap or after it: the box, and after it the halo's faces, have
   values that tell where in the grid and in which swap; edges and corners are never touched. */
static double value_at(const struct halo_exchange *x, int64_t swap, bool after,
                       const int64_t position[HALO_DIRECTIONS])
{
    int64_t place = 0;
    int outside = 0;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        outside += position[d] == 0 || position[d] > x->box.extent[d];
        place = place * x->grid.dims[d] * x->box.extent[d] +
                halo_global_position(&x->grid, &x->box, d, position[d]);
    }
    if (outside > (after ? 1 : 0))
        return UNTOUCHED;
    return (double)(place * SWAPS_TOLD_APART + swap % SWAPS_TOLD_APART);
}

/* Fills the array before a swap; after it, says whether the array is right. */
static bool visit(const struct halo_exchange *x, int64_t swap, bool after)
{
    double *value = x->values;
    int64_t p[HALO_DIRECTIONS];
    for (p[0] = 0; p[0] < x->array[0]; p[0]++)
        for (p[1] = 0; p[1] < x->array[1]; p[1]++)
            for (p[2] = 0; p[2] < x->array[2]; p[2]++, value++) {
                const double right = value_at(x, swap, after, p);
                if (!after)
                    *value = right;
                else if (*value != right)
                    return false;
            }
    return true;
}

void halo_prepare(const struct halo_exchange *x, int64_t swap) { visit(x, swap, false); }

bool halo_is_right(const struct halo_exchange *x, int64_t swap) { return visit(x, swap, true); }
