/*
 * What noise knows of a rank and of the job.
 */
#pragma once

#include "common/sync_clock/global_clock.h"
#include "common/clock/work.h"
#include "common/run/program.h"
#include "noise/columns.h"
#include "noise/histogram.h"
#include "noise/parameters.h"
#include "noise/sources.h"

/* What is kept of the steps of a visit, in ns and percent; NAN: the visit was cut short. */
enum noise_step_value {
    NOISE_STEP_MEAN,     /* mean time of a step */
    NOISE_STEP_USUAL,    /* usual time */
    NOISE_STEP_SLOWDOWN, /* how much longer interruptions make steps; NAN also with too few steps */
    NOISE_STEP_VALUES
};

/* The steps of an operation after an amount of work; times on rank 0 only. */
struct noise_steps {
    int operation; /* enum noise_operation */
    int64_t grain_us;
    uint64_t units;
    struct bc_samples visits; /* a round of NOISE_STEP_VALUES for each */
    struct noise_histogram times;
    double min_ns, max_ns;   /* of single steps */
    int64_t count;           /* steps */
    int64_t judged, stopped; /* steps in blocks whose usual time is known; those with a stop */
};

struct noise {
    struct noise_parameters parameters;
    struct bc_run *run;
    struct bc_work_rate rate;
    uint64_t units;     /* of a quantum; 0: the clock shows no time passing during work */
    int block;          /* quanta in a block */
    int64_t *readings;  /* of a block of quanta or steps */
    double min_stop_ns; /* --min-stop, or more if the clock's steps are too long for that */
    struct bc_global_clock *clock;
    MPI_Comm group;   /* the ranks that share a row: of a host, or this one alone */
    MPI_Comm leaders; /* the first rank of each group; MPI_COMM_NULL on all others */
    int groups;
    struct noise_steps *steps; /* one for each operation and grain */
    int step_kinds;
};

/* What a rank keeps of the run. */
struct noise_row {
    struct noise_stops stops; /* on the clock that ranks share */
};
