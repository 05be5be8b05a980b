/* The options of mpi_overhead; the timed loops (kernel.c); and one row: the host overhead of a
   message of one size in one direction. */
#ifndef COMMCOST_MPI_OVERHEAD_MEASURE_H
#define COMMCOST_MPI_OVERHEAD_MEASURE_H

#include "common/clock/work.h"
#include "common/machine/node_order.h"
#include "common/mpi/large_count.h"
#include "common/run/parse.h"
#include "common/run/run.h"

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
};

extern const struct overhead_parameters overhead_default_parameters;
enum { OVERHEAD_OPTIONS = 10 };
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
    unsigned char *buffer;
    bool check;       /* verify the data of each message */
    int64_t messages; /* prepared so far, the same on both ranks */
    int64_t wrong;    /* messages that arrived wrong on this rank */
};

/* Whether messages go to this rank. */
static inline bool overhead_receives(const struct overhead_exchange *exchange)
{
    return exchange->measures == (exchange->direction == OVERHEAD_RECEIVE);
}

/* Runs this rank's end of a loop, with `units` of work in each iteration if it measures; returns
   the time of all iterations in ns. Collective over the pair. */
double overhead_time_loop(const struct overhead_exchange *exchange, bool message, bool token,
                          uint64_t units, int64_t iterations);

struct overhead_bench {
    struct overhead_parameters parameters;
    struct bc_run *run;
    struct bc_output *verbose;    /* the run's with --verbose, else NULL */
    struct bc_node_order by_node; /* in which ranks are paired */
    struct bc_work_rate rate;     /* of rank 0 */
    struct overhead_exchange exchange;
};

/* Times in ns an iteration. All but overhead and transfer have the barrier between two iterations
   in them; iter and work also the token (kernel.c), if any. Complete on rank 0 only. */
struct overhead_result {
    int64_t iterations; /* at the amount of work that gave the overhead */
    double iter_ns, work_ns, base_ns;
    struct bc_summary overhead_ns, transfer_ns; /* values and intervals; NAN where there are none */
    double available_pct, available_lo_pct, available_hi_pct;
    double available_base_pct; /* over base_ns, as specified; NAN without an overhead */
    int64_t samples;
    bool knee;    /* the knee was found */
    bool in_time; /* -b auto: the precision was reached before the time was up; -b RATIO: the
                     search ended by itself, with or without a knee */
};

/* Measures bench->exchange within `seconds` (as `measure` of struct bc_benchmark): by the fit of a
   plateau and a line to all points (-b auto), or with the specification's thresholds (-b RATIO).
   The result must begin as zeros. Collective over MPI_COMM_WORLD. */
void overhead_measure(struct overhead_bench *bench, double seconds, struct overhead_result *result);

#endif
