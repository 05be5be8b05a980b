/*
 * What noise knows of a rank and of the job, and what a row says.
 */
#ifndef COMMCOST_NOISE_STATE_H
#define COMMCOST_NOISE_STATE_H

#include "common/sync_clock/global_clock.h"
#include "common/clock/work.h"
#include "common/run/program.h"
#include "noise/kernel.h"
#include "noise/lengths.h"
#include "noise/parameters.h"
#include "noise/sources.h"
#include "noise/stops.h"

/* The steps of an operation after so much work. Rank 0 keeps the times. */
struct noise_steps {
    int operation; /* enum noise_operation */
    int64_t grain_us;
    uint64_t units;
    /* By visit: mean time of a step, the usual time, and by how much the mean is longer, of steps
       that take longer than usual by more than a stop. NAN: it has too few steps to tell, or was
       cut short. */
    double *mean_ns, *usual_ns, *slowdown_pct;
    struct noise_lengths lengths;
    double min_ns, max_ns;   /* of single steps */
    int64_t count;           /* steps */
    int64_t judged, stopped; /* in blocks that tell what is usual; of these with a stop */
};

struct noise {
    struct noise_parameters parameters;
    struct bc_run *run;
    struct bc_work_rate rate;
    uint64_t units;     /* of a quantum; 0: time stands still while a program computes */
    int block;          /* quanta whose readings are kept at once */
    int64_t *readings;  /* of a block of quanta or steps */
    double min_stop_ns; /* as asked for, or what the clock can tell */
    struct bc_global_clock *clock;
    MPI_Comm group;   /* the ranks that have one row together: of a host, or this one alone */
    MPI_Comm leaders; /* the first rank of each group; MPI_COMM_NULL on all others */
    int groups;
    struct noise_steps *steps; /* operations times grains */
    int step_kinds;
};

/* What a rank keeps of the run. */
struct noise_row {
    struct noise_stops stops; /* by the clock that ranks share */
};

struct noise_result {
    const char *scope; /* job, host (or rank), source, collective */
    char host[BC_CELL_LENGTH], ranks[BC_CELL_LENGTH];
    const char *source;         /* periodic, irregular */
    char about[BC_CELL_LENGTH]; /* tells sources of the same ranks apart */
    const char *operation;
    int64_t grain_us;
    struct bc_summary per_s;       /* stops of a rank */
    struct bc_summary stop;        /* their mean length, ns; p99 and max of single ones */
    struct bc_summary stopped_pct; /* of the time */
    double period_ms;
    struct bc_interval period_interval_ms;
    struct bc_summary step; /* ns */
    double usual_ns;
    struct bc_summary slowdown_pct, predicted_pct;
    struct bc_outcome outcome;
};

#endif
