/* The options of the overlap suite, the timed regions (kernel.c), and one row: the four phases for
   one collective at one size. */
#ifndef COMMCOST_OVERLAP_ENGINE_MEASURE_H
#define COMMCOST_OVERLAP_ENGINE_MEASURE_H

#include "common/clock/shared/start_window.h"
#include "common/clock/work.h"
#include "common/run/run.h"
#include "overlap/engine/operation.h"

#include <stdbool.h>
#include <stdint.h>

struct overlap_parameters {
    const struct overlap_collective *collective; /* the program's; no option */

    int64_t min_elements, max_elements;
    int64_t validation_steps;
    bool verbose, debug;
    bool data_driven;
    double cutoff_ms;
    double acceptance_pct;
    int64_t default_iterations; /* 0: adaptive */
    int64_t max_iterations;     /* 0: as --max-samples says */
    int64_t root;
};

/* The defaults, as initialisers of the struct. */
#define OVERLAP_DEFAULTS                                                                           \
    .min_elements = 1, .max_elements = 131072, .validation_steps = 2, .cutoff_ms = 1.0,            \
    .acceptance_pct = 0.5

/* Collectives without elements keep options about elements: sweeps pass the same options to all. */
enum { OVERLAP_OPTIONS = 11 };
extern const struct bc_option overlap_options[OVERLAP_OPTIONS];

/* The quantities of a round. */
enum overlap_quantity {
    OVERLAP_REFERENCE, /* post and wait */
    OVERLAP_TOTAL,     /* post, work, wait */
    OVERLAP_WORK,      /* the work alone */
    OVERLAP_QUANTITIES
};

struct overlap_round {
    struct overlap_operation *operation;
    struct bc_start_window *window; /* starts the ranks; NULL: a barrier does */
    bool check;                     /* verify every operation's data, outside the timing */
    uint64_t units;                 /* of work */
    int64_t wrong;                  /* operations with wrong data, on this rank */
};

/* `take` of a source (struct bc_source) whose context is a struct overlap_round: the reference time
   alone, the total alone (as quantity 0), or all three quantities. */
void overlap_take_reference(void *context, double *values);
void overlap_take_total(void *context, double *values);
void overlap_take_round(void *context, double *values);

/* What the rows of a run share. */
struct overlap_state {
    struct overlap_parameters parameters; /* first: the frame reads the options into it */
    bool shrunk;                          /* on rank 0: memory lowered the default max_elements */
    struct bc_run *run;
    struct bc_work_rate first_rate; /* of this rank's work, when the run began */
    struct bc_work_rate rate;       /* the same, corrected by trials; rank 0's is used */
};

/* What a row says, on rank 0. Times in ns, with the clock's cost taken off. */
struct overlap_result {
    const char *collective, *model;
    int64_t elements;
    double size_bytes;

    struct bc_summary reference, work, total;
    double reference_sd_ns;
    double overlap_pct, overlap_lo_pct, overlap_hi_pct;
    struct bc_outcome outcome;
};

/* Measures the overlap of an operation within `seconds` (significant on rank 0) and fills in the
   result from `reference` on. Returns this rank's operations with wrong data. Collective. */
int64_t overlap_run_phases(struct overlap_state *overlap, struct overlap_operation *operation,
                           double seconds, struct overlap_result *result);

/* The operation's reference time in ns from a few operations, the same on every rank; `seconds`
   (significant on rank 0) bounds the time for them. Collective. */
double overlap_quick_reference_ns(struct overlap_state *overlap,
                                  struct overlap_operation *operation, double seconds);

#endif
