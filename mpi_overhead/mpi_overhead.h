/* The options of mpi_overhead; the timed loops (kernel.c); and one row: the host overhead of a
   message of one size in one direction. */
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
    double threshold;          /* iter_t over base_t at which the work ends */
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
    enum overhead_direction direction; /* what the measuring rank does */
    bool measures;                     /* this rank measures; else it is a partner */
    bool reports;                      /* its times are the samples; at least one rank's are */
    bool token;                        /* the overhead is measured with a token */
    MPI_Comm pair;                     /* the two ranks: 0 measures, 1 is the partner */
    int peer;                          /* the other one's rank in `pair` */
    int64_t bytes;                     /* of the message */
    struct bc_amount message;          /* these bytes, as MPI takes them */
    struct bc_buffer buffer;
    uint64_t units;     /* of work in each iteration of the loops in hand */
    int64_t iterations; /* in each of these */
    bool check;         /* verify the data of each message */
    bool renews;        /* each message is in memory that was allocated just before */
    int64_t messages;   /* prepared so far, the same on both ranks */
    int64_t wrong;      /* messages that arrived wrong on this rank */
};

/* True if messages go to this rank. */
static inline bool overhead_receives(const struct overhead_exchange *exchange)
{
    return exchange->measures == (exchange->direction == OVERHEAD_RECEIVE);
}

struct mpi_overhead {
    struct overhead_parameters parameters;
    struct bc_run *run;
    struct bc_device *device;     /* NULL: all buffers lie in host memory */
    struct bc_output *verbose;    /* the run's with --verbose, else NULL */
    struct bc_node_order by_node; /* in which ranks are paired */
    struct bc_work_rate rate;     /* of rank 0 */
    struct overhead_exchange exchange;
};

/* The quantities of a round, times of an iteration. */
enum overhead_quantity {
    OVERHEAD_BASE,  /* post and wait, no work */
    OVERHEAD_EMPTY, /* neither message nor work: the barrier */
    OVERHEAD_ITER,  /* post, work, wait; with the token, if any */
    OVERHEAD_WORK,  /* the work, without a message; likewise */
    OVERHEAD_QUANTITIES
};

/* ---- kernel.c -------------------------------------------------------------------------------- */

/* Fills the buffer: on the rank that sends with the next message, on the other with zeros, which no
   message has. Local; both ranks of a pair call it. */
void overhead_prepare_data(struct overhead_exchange *exchange);

/* Times a loop of the exchange's iterations, with or without the message and the token, with
   `units` of work in each iteration on the rank that measures, and stores the time of an iteration
   as a quantity of the round on ranks that report. Collective over the pair. */
void overhead_time(struct overhead_exchange *exchange, const struct bc_round *round, int quantity,
                   bool message, bool token, uint64_t units);

/* ---- rows (row.c, columns.c) ----------------------------------------------------------------- */

/* A row: its keys, and state kept between visits, which is zeros before the first one. */
struct overhead_row {
    int64_t bytes; /* of a message */
    enum overhead_direction direction;
    int pair; /* the place of its measuring rank in the order of nodes */

    uint64_t units;        /* of work beyond the knee, as the first visit found */
    int64_t iterations;    /* in each loop; the same on every rank, as `units` */
    bool knee;             /* the knee was found; rank 0 */
    struct bc_store store; /* of all quantities; with -b RATIO a visit's results are a sample, and
                              in_time means that the search ended without the deadline */
    int64_t wrong;         /* messages that arrived wrong on this rank */
};

/* The result of a row. Times in ns an iteration. All but overhead and transfer have the barrier
   between two iterations in them; iter and work also the token (kernel.c), if any. Complete on rank
   0 only.
 */
struct overhead_result {
    const char *memory, *buffers; /* the words of the options */
    const char *direction;
    int pair; /* the measuring rank */
    int64_t msgsize;
    int64_t iterations; /* at the amount of work that gave the overhead */
    double iter_ns, work_ns, base_ns;
    struct bc_summary overhead_ns, transfer_ns; /* values and intervals; NAN where there are none */
    struct bc_summary available_pct; /* what the overhead leaves of base_ns, as specified */
    struct bc_summary transfer_available_pct; /* ... of transfer_ns; NAN without an overhead */
    bool is_disturbed;         /* the overhead was impossible: below 0, or above the transfer */
    struct bc_outcome outcome; /* overhead_no_knee without an overhead */
};

/* columns.c. The keys are those of buffers on a device, and of --buffers=new. */
extern const struct bc_table overhead_table;
extern const struct bc_column overhead_memory_column, overhead_buffers_column;

/* The status of a row without an overhead: the work did not get beyond the transfer. */
extern const char overhead_no_knee[];

extern const struct bc_precise_value overhead_precise_values[];
enum { OVERHEAD_PRECISE_VALUES = 2 };

/* True with -b auto, by the fit of a plateau and a line to all points; else with the
   specification's thresholds (-b RATIO). Local. */
bool overhead_is_fitted(const struct mpi_overhead *bench);

/* Returns how many times as long as without work an iteration with work beyond the knee takes, at
   least: on a log scale half way to --thresh, which the first iteration beyond the knee reached, so
   that noise in either time doesn't undo the knee. Local. */
double overhead_beyond_knee(const struct mpi_overhead *bench);

/* True if overhead and transfer are as precise as the settings ask for. Local; rank 0. */
bool overhead_is_precise(const struct mpi_overhead *bench, const struct overhead_row *row);

/* Fills in the result of all visits, which begins as zeros, and frees what the row holds.
   Collective over MPI_COMM_WORLD. */
void overhead_conclude(const struct mpi_overhead *bench, struct overhead_row *row,
                       struct overhead_result *result);

/* ---- search.c: the amount of work beyond the knee; collective over MPI_COMM_WORLD -------------
 */

/* Returns the iterations of all loops together; 0: set by the precision or --samples. Local. */
int64_t overhead_fixed_iterations(const struct mpi_overhead *bench);

/* Finds the work beyond the knee, and the length of loops with it, in about `seconds` (significant
   on rank 0). */
void overhead_find_knee(struct mpi_overhead *bench, double seconds, struct overhead_row *row);

/* Measures as specified (-b RATIO): a loop for each amount of work; base_t is the running average
   of iter_t until iter_t exceeds the base threshold. Appends the result as a sample. */
void overhead_find_threshold(struct mpi_overhead *bench, double seconds, struct overhead_row *row);

/* ---- excess.c: how much longer one operation takes than another; local ----------------------- */

/* Returns the summary of the excess of `quantity` over `subtrahend`, two quantities that take about
   as long (work with a message and alone), as if ranks were never interrupted. A visit's excess is
   the difference of the two 5 % quantiles, which interruptions don't move as long as one round in
   20 is free of them; the value is bc_mean_of_visits of these excesses. To its interval is added,
   as if it were independent of other errors, the difference that quartiles make. If times differ
   for other reasons than interruptions, the value is that of the quickest rounds. With fewer than
   two visits, and for sd, p99 and max, as bc_samples_summary. Under the median only. */
struct bc_summary overhead_excess(const struct bc_run *run, const struct bc_samples *samples,
                                  int quantity, int subtrahend);

/* ---- knee_fit.c: where work stops fitting under a message; pure ------------------------------ */

/* A fit to all points of a post-work-wait measurement. As long as the work is shorter than the
   transfer, an iteration takes as long as the transfer (the plateau); beyond the knee it takes the
   work and the host overhead (a line of slope one):

       iter(work) = max(plateau, work + overhead) */
struct knee_point {
    double work_ns; /* an iteration of the same loop without a message */
    double iter_ns; /* the same with one */
};

/* Points between `plateau` and `line` belong to neither for sure. */
struct knee_fit {
    bool found;     /* false: fewer than two points */
    size_t plateau; /* points before this one lie on the plateau */
    size_t line;    /* points from this one on lie on the line */
    double plateau_ns;
    double overhead_ns;
};

#define KNEE_POINTS_MAX 64

/* Fits at most KNEE_POINTS_MAX points, in ascending order of work. Of all ways to split them, takes
   the one with the smallest sum of absolute deviations from the curve whose plateau is the median
   of the left points and whose overhead is the median of iter less work of the right points.
   Then leaves points within `near_ns` of the knee out of both medians. */
struct knee_fit knee_fit(const struct knee_point *points, size_t count, double near_ns);
