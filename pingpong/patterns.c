/* SPDX-License-Identifier: BSD-3-Clause */
#include "pingpong/pingpong.h"

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Returns size number `index` of min, min * step, min * step^2 ... up to `max`, which is the last
   one, or 0 after it. */
static int64_t size_at(int64_t min, int64_t max, int64_t step, int index)
{
    int64_t size = min;
    for (int i = 0; i < index; i++) {
        if (size >= max)
            return 0;
        size = size > max / step ? max : size * step;
    }
    return size;
}

/* Returns the values of a size number `index`, without repeated sizes, or 0 after the last one. */
static int64_t listed_at(const struct bc_size_list *sizes, int index)
{
    for (size_t i = 0; i < sizes->count; i++)
        if (bc_size_list_is_first(sizes, i) && index-- == 0)
            return sizes->values[i] / (int64_t)sizeof(double);
    return 0;
}

bool pingpong_shape_at(enum pingpong_sweep sweep, const struct pingpong_limits *limits, int index,
                       struct pingpong_shape *shape)
{
    const int64_t ndata = limits->max_ndata;
    /* The number of single values that fit with max_stride; if it is 1, there is no stride. */
    const int64_t singles = ndata > limits->max_stride ? ndata / limits->max_stride : 1;
    int64_t max = ndata, step = limits->step;
    if (sweep == PINGPONG_STRIDED) {
        max = singles > 1 ? limits->max_stride : 1;
        step = 2; /* there are few strides, so none is left out */
    } else if (sweep != PINGPONG_CONTIGUOUS && limits->max_blocks > 0 && limits->max_blocks < max) {
        max = limits->max_blocks;
    }
    const int64_t size = sweep != PINGPONG_CONTIGUOUS ? size_at(1, max, step, index)
                         : limits->sizes.count == 0   ? size_at(limits->min_ndata, max, step, index)
                                                      : listed_at(&limits->sizes, index);
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

/* ---- moving the data ------------------------------------------------------------------------- */

/* Returns the address of this rank's value number `displacement`. */
static inline double *at(const struct pingpong_game *g, int64_t displacement)
{
    return g->origin + displacement;
}

/* Makes calls of a function real: the compiler neither inlines nor clones it, and uses nothing of
   its body in its callers. */
#if __has_attribute(noipa)
#define CALLED __attribute__((noipa))
#else
#define CALLED __attribute__((noinline))
#endif

/* Placed after a function's last call, so that the compiler doesn't turn the call into a jump. */
static inline void return_here(void) { __asm__ volatile(""); }

/* Moves by put or get: `kind` is the suffix of coarray functions. Contiguous data is one block. */
#define MOVES(kind)                                                                                \
    /* The specification's arguments: target, source, displacement and count. */                   \
    CALLED static void kind##_block(const struct bc_coarray *target, double *source, int partner,  \
                                    int64_t displacement, int64_t count, MPI_Datatype type)        \
    {                                                                                              \
        bc_coarray_##kind(target, partner, displacement, source + displacement, count, type);      \
    }                                                                                              \
                                                                                                   \
    CALLED static void kind##_count(struct pingpong_game *g, int64_t count)                        \
    {                                                                                              \
        bc_coarray_##kind(g->coarray, g->partner, 0, at(g, 0), count, MPI_DOUBLE);                 \
    }                                                                                              \
                                                                                                   \
    static void kind##_simple_sub(struct pingpong_game *g)                                         \
    {                                                                                              \
        kind##_count(g, pingpong_ndata(&g->shape));                                                \
        return_here();                                                                             \
    }                                                                                              \
                                                                                                   \
    static void kind##_many(struct pingpong_game *g)                                               \
    {                                                                                              \
        const struct pingpong_shape s = g->shape;                                                  \
        for (int64_t i = 0; i < s.count; i++)                                                      \
            bc_coarray_##kind(g->coarray, g->partner, (i * s.stride), at(g, (i * s.stride)),       \
                              s.blksize, MPI_DOUBLE);                                              \
    }                                                                                              \
                                                                                                   \
    CALLED static void kind##_blocks(const struct bc_coarray *target, double *source, int partner, \
                                     int64_t displacement, int64_t count, int64_t blksize,         \
                                     int64_t stride)                                               \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            bc_coarray_##kind(target, partner, displacement + i * stride,                          \
                              source + displacement + i * stride, blksize, MPI_DOUBLE);            \
    }                                                                                              \
                                                                                                   \
    static void kind##_sub_many(struct pingpong_game *g)                                           \
    {                                                                                              \
        const struct pingpong_shape s = g->shape;                                                  \
        kind##_blocks(g->coarray, at(g, 0), g->partner, 0, s.count, s.blksize, s.stride);          \
        return_here();                                                                             \
    }                                                                                              \
                                                                                                   \
    static void kind##_many_sub(struct pingpong_game *g)                                           \
    {                                                                                              \
        const struct pingpong_shape s = g->shape;                                                  \
        for (int64_t i = 0; i < s.count; i++)                                                      \
            kind##_block(g->coarray, at(g, 0), g->partner, (i * s.stride), s.blksize, MPI_DOUBLE); \
    }                                                                                              \
                                                                                                   \
    static void kind##_strided(struct pingpong_game *g)                                            \
    {                                                                                              \
        bc_coarray_##kind(g->coarray, g->partner, 0, at(g, 0), 1, g->section);                     \
    }                                                                                              \
                                                                                                   \
    static void kind##_strided_sub(struct pingpong_game *g)                                        \
    {                                                                                              \
        kind##_block(g->coarray, at(g, 0), g->partner, 0, 1, g->section);                          \
        return_here();                                                                             \
    }

MOVES(put)
MOVES(get)

/* ---- the table ------------------------------------------------------------------------------- */

#define PATTERNS(kind, reads)                                                                      \
    {#kind, PINGPONG_CONTIGUOUS, kind##_many, .gets = (reads)},                                    \
        {"sub" #kind, PINGPONG_CONTIGUOUS, kind##_many_sub, .gets = (reads)},                      \
        {"simple sub" #kind, PINGPONG_CONTIGUOUS, kind##_simple_sub, .gets = (reads)},             \
        {"all " #kind, PINGPONG_CONTIGUOUS, kind##_many, .gets = (reads), .exact = true},          \
        {"many " #kind, PINGPONG_MANY, kind##_many, .gets = (reads)},                              \
        {"sub many" #kind, PINGPONG_MANY, kind##_sub_many, .gets = (reads)},                       \
        {"many sub" #kind, PINGPONG_MANY, kind##_many_sub, .gets = (reads)},                       \
        {"strided " #kind, PINGPONG_STRIDED, kind##_strided, .gets = (reads)},                     \
        {"strided sub" #kind, PINGPONG_STRIDED, kind##_strided_sub, .gets = (reads)},              \
    {                                                                                              \
        "strided many " #kind, PINGPONG_STRIDED_MANY, kind##_many, .gets = (reads)                 \
    }

const struct pingpong_pattern pingpong_patterns[PINGPONG_PATTERNS] = {
    PATTERNS(put, false),
    PATTERNS(get, true),
    {.name = "MPI Send", .sweep = PINGPONG_CONTIGUOUS},
};
