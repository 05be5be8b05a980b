#include "pingpong/shape.h"

/* Size number `index` of 1, step, step^2 ... up to `max`, which is the last one; 0 after it. */
static int64_t size_at(int64_t max, int64_t step, int index)
{
    int64_t size = 1;
    for (int i = 0; i < index; i++) {
        if (size >= max)
            return 0;
        size = size > max / step ? max : size * step;
    }
    return size;
}

bool pingpong_shape_at(enum pingpong_sweep sweep, const struct pingpong_limits *limits, int index,
                       struct pingpong_shape *shape)
{
    const int64_t ndata = limits->max_ndata;
    /* The number of single values that fit with max_stride; where that is 1, there is no stride. */
    const int64_t singles = ndata > limits->max_stride ? ndata / limits->max_stride : 1;
    int64_t max = ndata, step = limits->step;
    if (sweep == PINGPONG_STRIDED) {
        max = singles > 1 ? limits->max_stride : 1;
        step = 2; /* strides are few: none is left out */
    } else if (sweep != PINGPONG_CONTIGUOUS && limits->max_blocks > 0 && limits->max_blocks < max) {
        max = limits->max_blocks;
    }
    const int64_t size = size_at(max, step, index);
    if (size == 0)
        return false;
    if (sweep == PINGPONG_CONTIGUOUS)
        *shape = (struct pingpong_shape){1, size, 1};
    else if (sweep == PINGPONG_STRIDED)
        *shape = (struct pingpong_shape){singles, 1, size};
    else
        *shape = (struct pingpong_shape){size, ndata / size, ndata / size};
    if (sweep == PINGPONG_STRIDED_MANY)
        shape->stride *= 2;
    if (shape->count == 1)
        shape->stride = 1;
    return true;
}
