#include "pingpong/shape.h"

/* Size number `index` of 1, step, step^2 ... up to the most, which is the last
   one; 0 after it. */
static int64_t size_at(int64_t most, int64_t step, int index)
{
    int64_t size = 1;
    for (int i = 0; i < index; i++) {
        if (size >= most)
            return 0;
        size = size > most / step ? most : size * step;
    }
    return size;
}

bool pingpong_shape_at(enum pingpong_sweep sweep, const struct pingpong_limits *limits, int index,
                       struct pingpong_shape *shape)
{
    const int64_t most = limits->max_ndata;
    /* As many single values as fit with the greatest stride. A single one has
       no stride. Strides are few: none is left out. */
    const int64_t singles = most > limits->max_stride ? most / limits->max_stride : 1;
    const int64_t greatest_stride = singles > 1 ? limits->max_stride : 1;
    const bool has_limit = limits->max_blocks > 0 && limits->max_blocks < most;
    const int64_t most_blocks = has_limit ? limits->max_blocks : most;
    const int64_t size = sweep == PINGPONG_STRIDED      ? size_at(greatest_stride, 2, index)
                         : sweep == PINGPONG_CONTIGUOUS ? size_at(most, limits->step, index)
                                                        : size_at(most_blocks, limits->step, index);
    if (size == 0)
        return false;
    switch (sweep) {
    case PINGPONG_CONTIGUOUS:
        *shape = (struct pingpong_shape){1, size, 1};
        break;
    case PINGPONG_MANY:
        *shape = (struct pingpong_shape){size, most / size, most / size};
        break;
    case PINGPONG_STRIDED:
        *shape = (struct pingpong_shape){singles, 1, size};
        break;
    case PINGPONG_STRIDED_MANY:
        *shape = (struct pingpong_shape){size, most / size, 2 * (most / size)};
        break;
    }
    if (shape->count == 1)
        shape->stride = 1;
    return true;
}
