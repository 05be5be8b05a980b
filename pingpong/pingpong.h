/* SPDX-License-Identifier: BSD-3-Clause */
/* Data of a ping-pong, its patterns and arrangements, its timed loops, and its row. The
   specification is the EPCC suite (common/coarray/coarray.h). */
#pragma once

#include "common/coarray/coarray.h"
#include "common/coarray/transfers.h"
#include "common/device/memory.h"
#include "common/expected/expected.h"
#include "common/mpi/large_count.h"
#include "common/run/parse.h"
#include "common/run/run.h"

/* ---- shapes of data (patterns.c) ------------------------------------------------------------- */

/* Data of a transfer: `count` blocks of `blksize` doubles, at distances of `stride` doubles. */
struct pingpong_shape {
    int64_t count, blksize, stride;
};

/* Returns the number of values moved. */
static inline int64_t pingpong_ndata(const struct pingpong_shape *shape)
{
    return shape->count * shape->blksize;
}

/* Returns the number of values from the first to the last one moved, including gaps. */
static inline int64_t pingpong_nextent(const struct pingpong_shape *shape)
{
    return (shape->count - 1) * shape->stride + shape->blksize;
}

/* True if value i, which must be below nextent, is moved. */
static inline bool pingpong_moves(const struct pingpong_shape *shape, int64_t i)
{
    return shape->count == 1 || i % shape->stride < shape->blksize;
}

/* Max number of sizes in a sweep: 2^0 to 2^40 values, or a list. */
enum { PINGPONG_SIZES_MAX = 41 };

/* Order of a pattern's shapes, within the limits of a run. */
enum pingpong_sweep {
    PINGPONG_CONTIGUOUS,  /* one block of min_ndata ... max_ndata values, or of `sizes` */
    PINGPONG_MANY,        /* max_ndata values in 1 ... max_blocks blocks, without gaps */
    PINGPONG_STRIDED,     /* a fixed number of single values with stride 1, 2, 4 ... max_stride */
    PINGPONG_STRIDED_MANY /* as PINGPONG_MANY, but each block is followed by a gap of its size */
};

/* Limits of a run's shapes. */
struct pingpong_limits {
    int64_t min_ndata;  /* values of contiguous data; a power of two */
    int64_t max_ndata;  /* values; a power of two without `sizes` */
    int64_t max_stride; /* a power of two */
    int64_t step;       /* factor to the next size: 2, or 8 in a thinned sweep */
    int64_t max_blocks; /* of many patterns; a power of two; 0: max_ndata (blocks of 1 value) */
    struct bc_size_list sizes; /* of contiguous data, in bytes; empty: min_ndata ... max_ndata */
};

/* Sets shape number `index` of a sweep. Returns false after the last one. The largest size or
   number of blocks is always among the shapes. */
bool pingpong_shape_at(enum pingpong_sweep sweep, const struct pingpong_limits *limits, int index,
                       struct pingpong_shape *shape);

/* ---- patterns (patterns.c) ------------------------------------------------------------------- */

/* One rank's end of a ping-pong. If the coarray only stages device memory, each repetition copies
   from and to the device. Messages in host memory, and with --buffers=new also this rank's end of
   puts and gets, use separate buffers. */
struct pingpong_game {
    const struct pingpong_pattern *pattern;
    enum bc_coarray_sync sync;
    struct bc_coarray *coarray; /* of at least nextent values */
    double *origin, *landing;   /* data that this rank sends, puts or gets; data that it receives.
                                   In the coarray's values or in `own` */
    struct bc_buffer *values;   /* the coarray's values, or with `staged` the device's */
    bool is_counterpart;        /* at least one of the partners is `staged` */
    bool staged;                /* this rank copies between the coarray and `values` */
    struct bc_buffer *own;      /* separate buffers of origin and landing, or NULL */
    struct pingpong_shape shape;
    MPI_Datatype section;      /* of PINGPONG_STRIDED, which moves all single values at once */
    struct bc_amount message;  /* of MPI_Send: the shape's values */
    struct bc_images partners; /* the partner alone */
    int partner;               /* -1: idle */
    bool starts;               /* moves the data first; otherwise moves it back */
    int64_t halves;            /* halves of repetitions checked so far */
    int64_t wrong;             /* halves with wrong data on this rank */
};

/* A part of a repetition. */
typedef void pingpong_step_fn(struct pingpong_game *game);

/* A way to move the data. In names, "sub" is a function that can't be inlined, "simple" one that
   takes only the count, "all" a coarray of the data's size, "many" one transfer per block. */
struct pingpong_pattern {
    const char *name;
    enum pingpong_sweep sweep;
    pingpong_step_fn *move; /* to or from the partner, without waiting; NULL for MPI_Send */
    bool gets;              /* the rank that moves the data reads it from its partner */
    bool exact;             /* the coarray has exactly the data's size */
};

enum { PINGPONG_PATTERNS = 21 };
extern const struct pingpong_pattern pingpong_patterns[PINGPONG_PATTERNS];

/* ---- options and arrangements (parameters.c) ------------------------------------------------- */

/* Ranks here are positions in common/job/node_order.h. */
enum pingpong_arrangement {
    PINGPONG_SINGLE,   /* the first rank with the last; others are idle */
    PINGPONG_MULTIPLE, /* rank r with rank r + P / 2 */
    PINGPONG_CROSSING, /* like MULTIPLE, but every second pair starts at its other end */
    PINGPONG_ARRANGEMENTS
};

/* A rank's role. */
struct pingpong_part {
    int partner; /* -1: idle */
    bool starts; /* moves the data first; its partner moves it back */
};

const char *pingpong_arrangement_name(int arrangement);

/* True if `ranks` ranks can be arranged this way: single needs 2, the others an even number of at
   least 4, since with 2 they equal single. */
bool pingpong_can_arrange(int arrangement, int ranks);

struct pingpong_part pingpong_part_of(int arrangement, int rank, int ranks);

struct pingpong_parameters {
    struct bc_names patterns;
    struct bc_names arrangements;
    int sync; /* enum bc_coarray_sync of puts and gets; BC_SYNC_NONE: both */
    bool full;
    struct pingpong_limits limits; /* max_ndata 0: set by `full` or `sizes`; `step` is no option */
    bool lowered;                  /* max_ndata was lowered to fit into memory; rank 0 */
    struct bc_memory_options memory;
    int buffers;       /* enum bc_buffers */
    double link_gbits; /* of the network; 0: that of the fastest port */
    bool protocols;
    struct bc_names operations; /* of `protocols` */
};

extern const struct pingpong_parameters pingpong_default_parameters;
enum { PINGPONG_OPTIONS = 15 };
extern const struct bc_option pingpong_options[PINGPONG_OPTIONS];

/* Completes the limits of a state that begins with the parameters, except max_blocks. Local. */
bool pingpong_parameters_complete(void *state, struct bc_error *error);

/* Checks processes and memory. Fits default sizes and blocks to memory and time. Local. */
bool pingpong_parameters_fit(void *state, struct bc_run *run, struct bc_error *error);

/* Returns the largest extent, in values, including gaps. */
int64_t pingpong_largest_extent(const struct pingpong_parameters *p,
                                const struct pingpong_limits *limits);

/* Returns the bytes of all coarrays of a run with these limits, and of two buffers for messages.
   With --buffers=new it includes a third buffer, which replaces one of them. */
double pingpong_needed_bytes(const struct pingpong_parameters *p,
                             const struct pingpong_limits *limits);

/* True if an arrangement was chosen and is possible with these ranks. */
bool pingpong_is_arranged(const struct pingpong_parameters *p, int arrangement, int ranks);

int pingpong_arrangements(const struct pingpong_parameters *p, int ranks);

/* ---- the timed loops (kernel.c) -------------------------------------------------------------- */

/* Times `repetitions` round trips. Returns an empty span on an idle rank. Collective over the
   coarray's ranks. */
struct bc_span pingpong_play(struct pingpong_game *game, int64_t repetitions);

/* Times half a repetition, `there` or back, for checks between the halves. Collective. */
struct bc_span pingpong_play_half(struct pingpong_game *game, bool there);

/* ---- the data of --check (check.c) ----------------------------------------------------------- */

/* Number of values after the data that --check verifies, if the coarray has them. */
#define PINGPONG_GUARD_VALUES 64

/* Returns the number of values that --check verifies and that `own` has. */
static inline int64_t pingpong_checked(const struct pingpong_game *game)
{
    const int64_t guarded = pingpong_nextent(&game->shape) + PINGPONG_GUARD_VALUES;
    return guarded < game->coarray->count ? guarded : game->coarray->count;
}

/* Runs one repetition. Each half's data is prepared before it and verified after it. Returns the
   time of both halves in ns. Collective over the coarray's ranks. */
double pingpong_play_checked(struct pingpong_game *game);

/* ---- the expected rate (expected.c) ---------------------------------------------------------- */

/* Returns the part of the network's rate that this rank's pair has, in MB/s, since pairs that move
   data the same way share their node's port; 0: not known, or the pair is on one node. Collective
   over MPI_COMM_WORLD. */
double pingpong_link_mbs(const struct bc_expected *expected, const struct bc_job *job,
                         struct pingpong_part part);

/* Expected times of this rank's transfer by visit, in ns. All zeros before the first visit. */
struct pingpong_expected {
    double *ns;
    size_t visits;
};

/* Adds this visit's expected time of a transfer, the mean of there and back: 0 on an idle rank, NAN
   if it isn't known. Does nothing if the message is small, or on a simulated machine. Collective
   over the pair. */
void pingpong_expect(struct pingpong_expected *times, const struct bc_expected *expected,
                     struct pingpong_part part, double link_mbs, size_t bytes);

/* Returns the columns of the slowest pair, and frees the times. Collective over MPI_COMM_WORLD;
   rank 0's result counts. */
struct bc_expected_result pingpong_expected_result(struct pingpong_expected *times,
                                                   double latency_ns, size_t bytes);

/* ---- a row (columns.c) ----------------------------------------------------------------------- */

struct pingpong_result {
    const char *arrangement, *pattern, *sync;
    struct pingpong_shape shape;
    int64_t ndata, nextent;
    struct bc_transfer_result transfers; /* two per repetition: there and back */
    struct bc_expected_result expected;
    struct bc_staged staged;
    const char *buffers;
};

extern const struct bc_table pingpong_table;
extern const struct bc_column pingpong_buffers_column; /* a key with --buffers=new */
