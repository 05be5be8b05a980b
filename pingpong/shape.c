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
    /* The number of single values that fit with max_stride; where that is 1, there is no stride.
       Strides are few: none is left out. */
    const int64_t singles = ndata > limits->max_stride ? ndata / limits->max_stride : 1;
    const int64_t max_stride = singles > 1 ? limits->max_stride : 1;
    const bool has_limit = limits->max_blocks > 0 && limits->max_blocks < ndata;
    const int64_t max_blocks = has_limit ? limits->max_blocks : ndata;
    const int64_t size = sweep == PINGPONG_STRIDED      ? size_at(max_stride, 2, index)
                         : sweep == PINGPONG_CONTIGUOUS ? size_at(ndata, limits->step, index)
                                                        : size_at(max_blocks, limits->step, index);
    if (size == 0)
        return false;
    switch (sweep) {
    case PINGPONG_CONTIGUOUS:
        *shape = (struct pingpong_shape){1, size, 1};
        break;
    case PINGPONG_MANY:
        *shape = (struct pingpong_shape){size, ndata / size, ndata / size};
        break;
    case PINGPONG_STRIDED:
        *shape = (struct pingpong_shape){singles, 1, size};
        break;
    case PINGPONG_STRIDED_MANY:
        *shape = (struct pingpong_shape){size, ndata / size, 2 * (ndata / size)};
        break;
    }
    if (shape->count == 1)
        shape->stride = 1;
    return true;
}
