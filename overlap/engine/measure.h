/*
 * The options of the overlap suite, the timed regions (kernel.c), and one row: the four phases for
 * one collective at one size.
 *
 * How much work fits follows from work that doesn't: with more work than fits, all that lies beside
 * the work in an operation's time (post and wait) is what can't be overlapped, so that
 *
 *     work that fits = reference - exposed
 *
 * The operation with work is timed in three parts, post, work and wait, so that the exposed time is
 * without the time that the work took in just this operation. A rank that is stopped in its work
 * (by a daemon, by the host of a virtual machine) only has longer work then: the exposed time and
 * the overlap stay what they are. Where the library itself takes time from the work (a thread that
 * progresses messages), the work takes longer inside than alone, and the difference counts as
 * exposed.
 *
 * Both times are formed on each rank, as lower quartiles of its rounds, which stops don't move as
 * long as a quarter of the rounds are free of them. What the library takes from the work is a small
 * difference of long times, and formed from 5 % quantiles. The overlap is also computed with the
 * two quantiles exchanged, and its interval widened by the difference. The slowest rank's times are
 * taken once, at the end: a maximum over ranks in each round would grow with the number of ranks
 * wherever there is noise.
 *
 * The search finds where that is, and with it the amounts of work that are seen to fit and not to
 * fit; visits of the row refine it.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_MEASURE_H
#define COMMCOST_OVERLAP_ENGINE_MEASURE_H

#include "common/clock/shared/start_window.h"
#include "common/clock/work.h"
#include "common/run/run.h"
#include "overlap/engine/estimate.h"
#include "overlap/engine/operation.h"
#include "overlap/engine/search.h"

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

/* The quantities of a round, as the sampler has them: the slowest rank's. */
enum overlap_quantity {
    OVERLAP_REFERENCE, /* post and wait */
    OVERLAP_EXPOSED,   /* post and wait around more work than fits, without the work */
    OVERLAP_WORK,      /* the answer's work alone */
    OVERLAP_TOTAL,     /* post, the answer's work, wait */
    OVERLAP_QUANTITIES
};

struct overlap_round {
    struct overlap_operation *operation;
    struct bc_start_window *window; /* starts the ranks; NULL: a barrier does */
    bool check;                     /* verify every operation's data, outside the timing */
    double clock_ns;                /* what a reading costs on this rank */
    uint64_t units;                 /* of work, more than fits, or on trial */
    uint64_t answer_units;          /* of the answer's work */
    struct bc_samples *own;         /* of this rank's times */
    int64_t wrong;                  /* operations with wrong data, on this rank */
};

/* `take` of a source (struct bc_source) whose context is a struct overlap_round: the reference time
   alone; the total with `units` of work alone (as quantity 0); reference and exposed time; or all
   quantities. The last two keep this rank's times. */
void overlap_take_reference(void *context, double *values);
void overlap_take_total(void *context, double *values);
void overlap_take_trial(void *context, double *values);
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

/* What a row remembers from visit to visit; all zeros before the first one. All but `wrong` is
   significant on rank 0 only. */
struct overlap_row {
    struct bc_samples reference_phase; /* the reference time alone, before the search */
    struct bc_samples rounds;          /* of all quantities */
    struct bc_samples answers;         /* the overlap and the knee of each visit */
    struct bc_samples blocks;          /* the same of parts of the first visit */
    struct overlap_search search;      /* of the first visit */
    double knee_ns;                    /* the work that fits, as far as is known */
    double margin_ns;                  /* by how much more work is tried than that */
    double size_bytes;                 /* of a block; on every rank */
    int64_t wrong;                     /* operations with wrong data, on this rank */
};

/* One visit of an operation within `seconds` (significant on rank 0). Collective. */
void overlap_visit_operation(struct overlap_state *overlap, struct overlap_operation *operation,
                             double seconds, struct overlap_row *row);

/* Whether the row is what was asked for. Local; rank 0. */
bool overlap_row_is_precise(const struct overlap_state *overlap, const struct overlap_row *row);

/* Fills in the result of all visits from `reference` on, on rank 0, and frees what the row holds.
   Local. */
void overlap_conclude_row(struct overlap_state *overlap, struct overlap_row *row,
                          struct overlap_result *result);

/* The operation's reference time in ns from a few operations, the same on every rank; `seconds`
   (significant on rank 0) bounds the time for them. Collective. */
double overlap_quick_reference_ns(struct overlap_state *overlap,
                                  struct overlap_operation *operation, double seconds);

#endif
