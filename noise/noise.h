/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types shared by the files of noise: options, a row's columns, and the state of a run.
 */
#pragma once

#include "common/work/work.h"
#include "common/measure/plan.h"
#include "common/run/parse.h"
#include "common/run/program.h"
#include "common/sync_clock/global_clock.h"
#include "noise/sources.h"

/* Parts of the job that get a row. */
enum noise_per { NOISE_PER_HOST, NOISE_PER_RANK };

/* Operations that end a step. */
enum noise_operation { NOISE_BARRIER, NOISE_ALLREDUCE, NOISE_OPERATIONS };

struct noise_parameters {
    double quantum_us;  /* work between two readings of the clock */
    double min_stop_us; /* min excess of an interrupted quantum over the usual time */
    int per;            /* enum noise_per */
    struct bc_names operations;
    struct bc_size_list grain_us; /* work in a step */
    double alpha_pct;             /* probability that a source is reported although there is none */
    double threshold_pct;         /* min share of a rank's time for an irregular source */
};

extern const struct noise_parameters noise_default_parameters;
enum { NOISE_OPTIONS = 7 };
extern const struct bc_option noise_options[NOISE_OPTIONS];

const char *noise_operation_name(int operation);

struct noise_result {
    const char *scope; /* job, host (or rank), source, collective */
    char host[BC_CELL_LENGTH], ranks[BC_CELL_LENGTH];
    const char *source;         /* periodic, irregular */
    char about[BC_CELL_LENGTH]; /* distinguishes sources of the same ranks */
    const char *operation;
    int64_t grain_us;
    struct noise_amount stops; /* per rank; p99 and max of length_ns are of single stops */
    double period_ms;
    struct bc_interval period_interval_ms;
    struct bc_summary step; /* ns */
    double usual_ns;
    struct bc_summary slowdown_pct, predicted_pct;
    struct bc_outcome outcome;
};

extern const struct bc_table noise_table;

/* Values of the steps of a visit, in ns and percent, or NAN if the visit was cut short. */
enum noise_step_value {
    NOISE_STEP_MEAN,     /* mean time */
    NOISE_STEP_USUAL,    /* usual time */
    NOISE_STEP_SLOWDOWN, /* by interruptions; also NAN with too few steps */
    NOISE_STEP_VALUES
};

/* The steps of an operation and an amount of work. Times are on rank 0 only. */
struct noise_steps {
    int operation; /* enum noise_operation */
    int64_t grain_us;
    uint64_t units;
    struct bc_samples visits; /* one round of NOISE_STEP_VALUES per visit */
    struct noise_histogram times;
    double min_ns, max_ns;   /* of single steps */
    int64_t count;           /* steps */
    int64_t judged, stopped; /* steps in blocks whose usual time is known; stopped ones */
};

struct noise {
    struct noise_parameters parameters;
    struct bc_run *run;
    struct bc_work_rate rate;
    uint64_t units;     /* of a quantum; 0 if the clock doesn't advance during work */
    int block;          /* quanta in a block */
    int64_t *readings;  /* of a block of quanta or steps */
    double min_stop_ns; /* --min-stop, or more if the clock's steps are too long */
    struct bc_global_clock *clock;
    struct noise_steps *steps; /* one per operation and grain */
    int step_kinds;
};

/* The timed regions: run `count` times `units` units of work (common/work/work.h), alone or
   followed by a barrier or an allreduce of one double over MPI_COMM_WORLD. Read the clock before
   the first and after each: readings_ns[0] to readings_ns[count]. Regions with an operation are
   collective, with the same count on all ranks. An MPI error aborts the job. */
typedef void noise_kernel_fn(uint64_t units, int count, int64_t *readings_ns);
noise_kernel_fn noise_quanta, noise_barrier_steps, noise_allreduce_steps;

/* Writes the rows of the job, of hosts or ranks, of sources and of operations, and frees the stops,
   whose times must be on the clock that ranks share. Collective. */
void noise_write_rows(const struct noise *noise, struct noise_stops *stops);

/* Writes the stops of all ranks to the file of --dump-samples, if any. Rank 0 holds the stops of
   one rank at a time. On rank 0 `visits` has the visits of all ranks, in rank order. Collective. */
void noise_dump_stops(const struct noise *noise, const struct noise_stops *stops,
                      const struct noise_watch *visits);
