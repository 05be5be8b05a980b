/* What data a transfer moves: `count` blocks of `blksize` values, whose starts are `stride` values
   apart. Pure; values are doubles. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pingpong_shape {
    int64_t count, blksize, stride;
};

/* The number of values that are moved. */
static inline int64_t pingpong_ndata(const struct pingpong_shape *shape)
{
    return shape->count * shape->blksize;
}

/* The number of values from the first one that is moved to the last one, gaps included. */
static inline int64_t pingpong_nextent(const struct pingpong_shape *shape)
{
    return (shape->count - 1) * shape->stride + shape->blksize;
}

/* Whether value i, which must be below nextent, is moved. */
static inline bool pingpong_moves(const struct pingpong_shape *shape, int64_t i)
{
    return shape->count == 1 || i % shape->stride < shape->blksize;
}

/* How a pattern's shapes follow one another, within the limits of a run. */
enum pingpong_sweep {
    PINGPONG_CONTIGUOUS,  /* one block of 1 value, of more, up to max_ndata */
    PINGPONG_MANY,        /* max_ndata values in 1 block, in more, up to max_blocks, without gaps */
    PINGPONG_STRIDED,     /* an equal number of single values with stride 1, 2, 4 ... max_stride */
    PINGPONG_STRIDED_MANY /* as PINGPONG_MANY, but a gap of its size follows each block, so the
                             extent is twice as large */
};

/* What limits a run's shapes. */
struct pingpong_limits {
    int64_t max_ndata;  /* values; a power of two */
    int64_t max_stride; /* a power of two */
    int64_t step;       /* from a size to the next: 2, or 8 in a thinned sweep */
    int64_t max_blocks; /* in the many patterns; a power of two; 0: max_ndata (blocks of 1 value) */
};

/* Shape number `index` of a sweep, from 0 on; false after the last one. The largest size, or number
   of blocks, is always one of the shapes. */
bool pingpong_shape_at(enum pingpong_sweep sweep, const struct pingpong_limits *limits, int index,
                       struct pingpong_shape *shape);
