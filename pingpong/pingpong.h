/* The data of a ping-pong, its patterns and arrangements, its timed loops, and its row.
   Specification: the EPCC suite (common/coarray/coarray.h). */
#pragma once

#include "common/coarray/coarray.h"
#include "common/coarray/transfers.h"
#include "common/device/memory.h"
#include "common/mpi/large_count.h"
#include "common/run/run.h"

/* ---- shapes of data (patterns.c) ------------------------------------------------------------- */

/* The data of a transfer: `count` blocks of `blksize` values, whose starts are `stride` values
   apart. Values are doubles. */
struct pingpong_shape {
    int64_t count, blksize, stride;
};

/* Returns the number of values that are moved. */
static inline int64_t pingpong_ndata(const struct pingpong_shape *shape)
{
    return shape->count * shape->blksize;
}

/* Returns the number of values from the first one that is moved to the last one, gaps included. */
static inline int64_t pingpong_nextent(const struct pingpong_shape *shape)
{
    return (shape->count - 1) * shape->stride + shape->blksize;
}

/* True if value i, which must be below nextent, is moved. */
static inline bool pingpong_moves(const struct pingpong_shape *shape, int64_t i)
{
    return shape->count == 1 || i % shape->stride < shape->blksize;
}

/* How a pattern's shapes follow one another, within the limits of a run. */
enum pingpong_sweep {
    PINGPONG_CONTIGUOUS,  /* one block of min_ndata values, of more, up to max_ndata */
    PINGPONG_MANY,        /* max_ndata values in 1 block, in more, up to max_blocks, without gaps */
    PINGPONG_STRIDED,     /* an equal number of single values with stride 1, 2, 4 ... max_stride */
    PINGPONG_STRIDED_MANY /* as PINGPONG_MANY, but a gap of its size follows each block, so the
                             extent is twice as large */
};

/* Limits of a run's shapes. */
struct pingpong_limits {
    int64_t min_ndata;  /* values of contiguous data; a power of two */
    int64_t max_ndata;  /* values; a power of two */
    int64_t max_stride; /* a power of two */
    int64_t step;       /* from a size to the next: 2, or 8 in a thinned sweep */
    int64_t max_blocks; /* in the many patterns; a power of two; 0: max_ndata (blocks of 1 value) */
};

/* Shape number `index` of a sweep, from 0 on; false after the last one. The largest size, or number
   of blocks, is always one of the shapes. */
bool pingpong_shape_at(enum pingpong_sweep sweep, const struct pingpong_limits *limits, int index,
                       struct pingpong_shape *shape);

/* ---- patterns (patterns.c) ------------------------------------------------------------------- */

/* One rank's end of a ping-pong. Where the coarray only stands in for memory of a device, each
   repetition copies from there and to there. With --buffers=new messages, and the own end of puts
   and gets, are in memory of their own. */
struct pingpong_game {
    const struct pingpong_pattern *pattern;
    enum bc_coarray_sync sync;
    struct bc_coarray *coarray; /* of at least nextent values */
    double *origin, *landing;   /* what this rank sends, puts or gets; and where messages come to.
                                   The coarray's values, or `fresh` */
    struct bc_buffer *values;   /* the coarray's values, or, staged, those that it stands in for */
    bool is_counterpart;        /* the staged game: at least one of both partners copies */
    bool staged;                /* this rank copies: the coarray stands in for `values` */
    struct bc_buffer *fresh;    /* with --buffers=new: two, of origin and landing; else NULL */
    struct pingpong_shape shape;
    MPI_Datatype section;      /* of PINGPONG_STRIDED, whose patterns move single values at once */
    struct bc_amount message;  /* of MPI_Send: the shape's values */
    struct bc_images partners; /* the partner alone */
    int partner;               /* -1: idle */
    bool starts;               /* else moves the data back */
    int64_t halves;            /* of repetitions that were checked so far */
    int64_t wrong;             /* halves with wrong data on this rank */
};

/* A part of a repetition. */
typedef void pingpong_step_fn(struct pingpong_game *game);

/* A way to move the data. "sub": through a function that can't be inlined; "simple": one that takes
   the count alone; "all": a coarray of exactly the data's size; "many": a transfer for each block.
 */
struct pingpong_pattern {
    const char *name;
    enum pingpong_sweep sweep;
    pingpong_step_fn *move; /* to the partner or from it, without waiting; NULL: MPI_Send */
    bool gets;              /* the rank that moves the data reads it from its partner */
    bool exact;             /* the coarray has exactly the data's size */
};

enum { PINGPONG_PATTERNS = 21 };
extern const struct pingpong_pattern pingpong_patterns[PINGPONG_PATTERNS];

/* ---- options and arrangements (parameters.c) ------------------------------------------------- */

/* Ranks are numbered by node here: they are places of common/job/node_order.h. */
enum pingpong_arrangement {
    PINGPONG_SINGLE,   /* the first rank with the last; all others are idle */
    PINGPONG_MULTIPLE, /* rank r with rank r + P / 2 */
    PINGPONG_CROSSING, /* the same, but every other pair starts at the other end */
    PINGPONG_ARRANGEMENTS
};

/* A rank's part. */
struct pingpong_part {
    int partner; /* -1: idle */
    bool starts; /* moves the data first; its partner moves it back */
};

/* "single", "multiple", "crossing". */
const char *pingpong_arrangement_name(int arrangement);

/* True if `ranks` ranks can be arranged like this: single needs 2, the others an even number of at
   least 4 (with 2 they are single). */
bool pingpong_can_arrange(int arrangement, int ranks);

struct pingpong_part pingpong_part_of(int arrangement, int rank, int ranks);

struct pingpong_parameters {
    struct bc_names patterns;
    struct bc_names arrangements;
    int sync; /* enum bc_coarray_sync of puts and gets; BC_SYNC_NONE: both */
    bool full;
    struct pingpong_limits limits; /* max_ndata 0: by `full`; `step` is no option */
    bool lowered;                  /* max_ndata, to what fits into memory; rank 0 */
    struct bc_memory_options memory;
    int buffers; /* enum bc_buffers */
};

extern const struct pingpong_parameters pingpong_default_parameters;
enum { PINGPONG_OPTIONS = 11 };
extern const struct bc_option pingpong_options[PINGPONG_OPTIONS];

/* Completes the limits of a state that begins with the parameters, except max_blocks. Local. */
bool pingpong_parameters_complete(void *state, struct bc_error *error);

/* Checks processes and memory. Sizes and blocks that weren't asked for become those that fit into
   memory and time. Local. */
bool pingpong_parameters_fit(void *state, struct bc_run *run, struct bc_error *error);

/* Returns the largest extent, in values: strided many has gaps as large as its data. */
int64_t pingpong_largest_extent(const struct pingpong_parameters *p,
                                const struct pingpong_limits *limits);

/* Returns the bytes of all coarrays that a run with these limits makes; with --buffers=new, also
   those of two more buffers and of one that replaces one of them. */
double pingpong_needed_bytes(const struct pingpong_parameters *p,
                             const struct pingpong_limits *limits);

/* True if an arrangement was chosen and can be made of these ranks. */
bool pingpong_is_arranged(const struct pingpong_parameters *p, int arrangement, int ranks);

/* Returns the number of arrangements that are measured. */
int pingpong_arrangements(const struct pingpong_parameters *p, int ranks);

/* ---- the timed loops (kernel.c) -------------------------------------------------------------- */

/* Times `repetitions` times there and back. A rank without a part returns an empty span. Collective
   over the coarray's ranks. */
struct bc_span pingpong_play(struct pingpong_game *game, int64_t repetitions);

/* Times half of a repetition, `there` or back, for checks between the halves. Collective. */
struct bc_span pingpong_play_half(struct pingpong_game *game, bool there);

/* ---- the data of --check (check.c) ----------------------------------------------------------- */

/* The number of values behind the data that --check looks at, where the coarray has them. */
#define PINGPONG_GUARD_VALUES 64

/* Returns the number of values that --check looks at, and that `fresh` has. */
static inline int64_t pingpong_checked(const struct pingpong_game *game)
{
    const int64_t guarded = pingpong_nextent(&game->shape) + PINGPONG_GUARD_VALUES;
    return guarded < game->coarray->count ? guarded : game->coarray->count;
}

/* Plays one repetition, each half with its data made before and verified after; returns the time of
   both halves in ns. Collective over the coarray's ranks. */
double pingpong_play_checked(struct pingpong_game *game);

/* ---- a row (columns.c) ----------------------------------------------------------------------- */

struct pingpong_result {
    const char *arrangement, *pattern, *sync;
    struct pingpong_shape shape;
    int64_t ndata, nextent;
    struct bc_transfer_result transfers; /* two a repetition: there and back */
    struct bc_staged staged;
    const char *buffers;
};

extern const struct bc_table pingpong_table;
extern const struct bc_column pingpong_buffers_column; /* with --buffers=new */
