/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of mpi_overhead, the timed loops, and a row: the host overhead of a message of one size
   in one direction. */
#pragma once

#include "common/work/work.h"
#include "common/device/memory.h"
#include "common/job/node_order.h"
#include "common/mpi/large_count.h"
#include "common/run/parse.h"
#include "common/measure/rounds.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct overhead_parameters {
    bool receive, both;
    bool all_pairs;
    int64_t iterations;        /* 0: calculated */
    struct bc_size_list sizes; /* of messages, in bytes */
    double threshold;          /* ratio iter_t / base_t that ends the search */
    double base_threshold;     /* 0: auto */
    bool no_header, verbose, usage;
    struct bc_memory_options memory;
    int buffers; /* enum bc_buffers */
};

extern const struct overhead_parameters overhead_default_parameters;
enum { OVERHEAD_OPTIONS = 13 };
extern const struct bc_option overhead_options[OVERHEAD_OPTIONS];

enum overhead_direction { OVERHEAD_SEND, OVERHEAD_RECEIVE, OVERHEAD_DIRECTIONS };

/* One end of a message, on every rank. */
struct overhead_exchange {
    enum overhead_direction direction; /* seen from the measuring rank */
    bool measures;                     /* false on the partner */
    bool reports;                      /* its times are samples; true on at least one rank */
    bool token;                        /* the overhead is measured with a token */
    MPI_Comm pair;                     /* the two ranks: 0 measures, 1 is the partner */
    int peer;                          /* rank of the other end in `pair` */
    int64_t bytes;                     /* of the message */
    struct bc_amount message;          /* these bytes as a count and a type */
    struct bc_buffer buffer;
    uint64_t units;     /* of work in each iteration of the current loops */
    int64_t iterations; /* in each of the current loops */
    bool check;         /* verify the data of each message */
    bool renews;        /* each message uses newly allocated memory */
    int64_t messages;   /* prepared so far, the same on both ranks */
    int64_t wrong;      /* messages that arrived wrong on this rank */
};

/* True if messages arrive at this rank. */
static inline bool overhead_receives(const struct overhead_exchange *exchange)
{
    return exchange->measures == (exchange->direction == OVERHEAD_RECEIVE);
}

struct mpi_overhead {
    struct overhead_parameters parameters;
    struct bc_run *run;
    struct bc_device *device;     /* NULL if all buffers are in host memory */
    struct bc_output *verbose;    /* output of --verbose, or NULL */
    struct bc_node_order by_node; /* order in which ranks are paired */
    struct bc_work_rate rate;     /* of rank 0 */
    struct overhead_exchange exchange;
};

/* The quantities of a round: times of an iteration. */
enum overhead_quantity {
    OVERHEAD_BASE,  /* post and wait, no work */
    OVERHEAD_EMPTY, /* neither message nor work: the barrier */
    OVERHEAD_ITER,  /* post, work, wait; includes the token, if any */
    OVERHEAD_WORK,  /* the work alone; includes the token, if any */
    OVERHEAD_QUANTITIES
};

/* ---- kernel.c -------------------------------------------------------------------------------- */

/* Fills the buffer: with the next message on the sender, with zeros, which no message has, on the
   receiver. Local; both ranks of a pair call it. */
void overhead_prepare_data(struct overhead_exchange *exchange);

/* Times a loop of the exchange's iterations, with `units` of work in each on the rank that
   measures. On ranks that report, stores the time of an iteration as a quantity of the round.
   Collective over the pair. */
void overhead_time(struct overhead_exchange *exchange, const struct bc_round *round, int quantity,
                   bool message, bool token, uint64_t units);

/* ---- rows (row.c, columns.c) ----------------------------------------------------------------- */

/* A row: its keys, and state kept between visits, which is zero before the first one. */
struct overhead_row {
    int64_t bytes; /* of a message */
    enum overhead_direction direction;
    int pair; /* index of its measuring rank in the order of nodes */

    uint64_t units;        /* of work beyond the knee, found by the first visit */
    int64_t iterations;    /* in each loop; the same on all ranks, like `units` */
    bool knee;             /* true if the knee was found; rank 0 */
    struct bc_store store; /* of all quantities; with -b RATIO each visit is one sample, and in_time
                              means that the search ended before the deadline */
    int64_t wrong;         /* messages that arrived wrong on this rank */
};

/* The result of a row, complete on rank 0 only. Times are in ns per iteration. All except overhead
   and transfer include the barrier between iterations; iter and work also include the token, if any
   (kernel.c). */
struct overhead_result {
    const char *memory, *buffers; /* as on the command line */
    const char *direction;
    int pair; /* the measuring rank */
    int64_t msgsize;
    int64_t iterations; /* with the work that gave the overhead */
    double iter_ns, work_ns, base_ns;
    struct bc_summary overhead_ns, transfer_ns; /* NAN if there are none */
    struct bc_summary available_pct; /* share of base_ns that the overhead leaves, as specified */
    struct bc_summary transfer_available_pct; /* share of transfer_ns; NAN without an overhead */
    bool is_disturbed;         /* the overhead was impossible: below 0, or above the transfer */
    struct bc_outcome outcome; /* overhead_no_knee without an overhead */
};

/* The columns are keys, with buffers on a device and with --buffers=new. */
extern const struct bc_table overhead_table;
extern const struct bc_column overhead_memory_column, overhead_buffers_column;

/* Status of a row without an overhead, because the work never exceeded the transfer. */
extern const char overhead_no_knee[];

extern const struct bc_precise_value overhead_precise_values[];
enum { OVERHEAD_PRECISE_VALUES = 2 };

/* True if the knee is found by fitting a plateau and a line to all points (-b auto), false if by
   the specification's thresholds (-b RATIO). Local. */
bool overhead_is_fitted(const struct mpi_overhead *bench);

/* Returns the min ratio of an iteration beyond the knee to one without work: the square root of
   --thresh, so that noise in either time doesn't undo the knee. Local. */
double overhead_beyond_knee(const struct mpi_overhead *bench);

/* True if overhead and transfer are as precise as the settings ask for. Local; rank 0. */
bool overhead_is_precise(const struct mpi_overhead *bench, const struct overhead_row *row);

/* Computes the result of all visits into `result`, which must be zeros, and frees the row's state.
   Collective over MPI_COMM_WORLD. */
void overhead_conclude(const struct mpi_overhead *bench, struct overhead_row *row,
                       struct overhead_result *result);

/* ---- search.c: the amount of work beyond the knee; collective over MPI_COMM_WORLD -------------
 */

/* Returns the iterations of all loops together, or 0 if precision or --samples sets them. Local. */
int64_t overhead_fixed_iterations(const struct mpi_overhead *bench);

/* Finds the work beyond the knee, and the length of loops with it, in about `seconds` (significant
   only on rank 0). */
void overhead_find_knee(struct mpi_overhead *bench, double seconds, struct overhead_row *row);

/* Measures as specified by SMB (-b RATIO): a loop for each amount of work; base_t is the running
   average of iter_t until iter_t exceeds the base threshold. Appends the result as a sample. */
void overhead_find_threshold(struct mpi_overhead *bench, double seconds, struct overhead_row *row);

/* ---- excess.c: how much longer one operation takes than another; local ----------------------- */

/* Summarizes the excess of `quantity` over `subtrahend`, two quantities that take about as long
   (work with and without a message), as if ranks were never interrupted. A visit's excess is the
   difference of the two 5 % quantiles, which interruptions don't move if one round in 20 is free of
   them; the value is bc_mean_of_visits of these excesses. The difference that quartiles would make
   widens the interval like an independent error. If times differ for other reasons than
   interruptions, the value is that of the fastest rounds. Uses bc_samples_summary with fewer than
   two visits, and for sd, p99 and max. With --estimator=median only. */
struct bc_summary overhead_excess(const struct bc_run *run, const struct bc_samples *samples,
                                  int quantity, int subtrahend);

/* ---- knee_fit.c: where work stops fitting under a message; pure ------------------------------ */

/* A point of a post-work-wait measurement. While the work is shorter than the transfer, an
   iteration takes as long as the transfer (the plateau). Beyond the knee it takes the work plus the
   host overhead (a line of slope one):

       iter(work) = max(plateau, work + overhead) */
struct knee_point {
    double work_ns; /* iteration without a message */
    double iter_ns; /* iteration with a message */
};

/* The fit. Points between `plateau` and `line` are near the knee and belong to neither. */
struct knee_fit {
    bool found;     /* false with fewer than two points */
    size_t plateau; /* number of points on the plateau */
    size_t line;    /* index of the first point on the line */
    double plateau_ns;
    double overhead_ns;
};

#define KNEE_POINTS_MAX 64

/* Fits at most KNEE_POINTS_MAX points, in ascending order of work. Takes the split with the
   smallest sum of absolute deviations from the curve whose plateau is the median of the left
   points, and whose overhead is the median of iter less work of the right points. Then leaves
   points within `near_ns` of the knee out of both medians. */
struct knee_fit knee_fit(const struct knee_point *points, size_t count, double near_ns);
