/*
 * The options of the overlap suite, and one row: the four phases for one operation at one size, and
 * what is gained against the blocking counterpart (gain.h).
 *
 * How much work fits follows from work that doesn't: with more work than fits, all that lies beside
 * the work in an operation's time (start and finish) is what can't be overlapped, so that
 *
 *     work that fits = reference - exposed
 *
 * The operation with work is timed in three parts, start, work and finish, so that the exposed time
 * is without the time that the work took in just this operation. A rank that is stopped in its work
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
 *
 * What a row says of work and total is of work that was seen not to make the operation longer than
 * its reference, in the same rounds but for the mean (guarantee.c): the specification's guarantee.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_MEASURE_H
#define COMMCOST_OVERLAP_ENGINE_MEASURE_H

#include "common/clock/work.h"
#include "common/run/run.h"
#include "overlap/engine/gain.h"
#include "overlap/engine/operation.h"
#include "overlap/engine/progress.h"
#include "overlap/engine/search.h"

#include <stdbool.h>
#include <stdint.h>

enum { OVERLAP_TEST_CALLS_MAX = 64 };

/* As a number of calls of MPI_Test: the one with the min exposed time is looked for. */
#define OVERLAP_AUTO INT64_C(-1)

/* The max number of calls that may be asked for. */
#define OVERLAP_TEST_CALLS_LIMIT 1000000

struct overlap_parameters {
    const struct overlap_kind *kind; /* the program's; no option */

    int64_t min_elements, max_elements;
    int64_t validation_steps;
    bool verbose, debug;
    bool data_driven;
    double cutoff_ms;
    double acceptance_pct;
    int64_t default_iterations; /* 0: adaptive */
    int64_t max_iterations;     /* 0: as --max-samples says */
    int64_t root;

    int form;                    /* enum overlap_form, or OVERLAP_FORMS: all */
    const char *test_calls_text; /* numbers, or `auto` */
    double plenty;               /* of work, in reference times */
    double threshold_pct;
    bool no_blocking;

    /* From the text. */
    int64_t test_calls[OVERLAP_TEST_CALLS_MAX];
    int test_calls_count;
};

/* The defaults, as initialisers of the struct. */
#define OVERLAP_DEFAULTS                                                                           \
    .min_elements = 1, .max_elements = 131072, .validation_steps = 2, .cutoff_ms = 1.0,            \
    .acceptance_pct = 0.5, .test_calls_text = "0", .plenty = 2.0, .threshold_pct = 2.0

/* Collectives without elements keep options about elements: sweeps pass the same options to all. */
enum { OVERLAP_OPTIONS = 16 };
extern const struct bc_option overlap_options[OVERLAP_OPTIONS];

/* Parses the texts of a state that begins with the parameters. False with the error set. Local. */
bool overlap_parameters_complete(void *state, struct bc_error *error);

/* What the rows of a run share. */
struct overlap_state {
    struct overlap_parameters parameters; /* first: options are read into it */
    const char *obstacle;  /* on rank 0: what the default max_elements didn't fit into; or NULL */
    bool lacks_persistent; /* on rank 0: rows of that form are left out */
    bool cuts_too_fine;    /* on rank 0: see overlap_probe */
    const char *parts_option; /* of a program that cuts the work by an option of its own: its name;
                                 NULL: --test-calls does */
    int64_t max_parts;        /* the max number of parts that the option asks for */
    struct overlap_progress progress; /* on rank 0 */
    struct bc_run *run;
    struct bc_work_rate first_rate; /* of this rank's work, when the run began */
    struct bc_work_rate rate;       /* the same, corrected by trials; rank 0's is used */
};

/* What a row says, on rank 0. Times in ns, with the clock's cost taken off. */
struct overlap_result {
    const char *collective, *model, *form;
    char test_calls[24];
    int64_t elements;
    double size_bytes;

    struct bc_summary reference, work, total;
    double reference_sd_ns;
    double overlap_pct, overlap_lo_pct, overlap_hi_pct;
    struct overlap_gain gain;
    const char *verdict;
    int64_t best_test_calls; /* BC_NO_INTEGER where they weren't looked for */
    struct bc_outcome outcome;
};

/* What tells a row from others. */
struct overlap_key {
    int64_t elements;
    int64_t test_calls;  /* or OVERLAP_AUTO */
    const void *variant; /* of a kind that has several; stays as long as the run */
    enum overlap_form form;
    enum bc_status status; /* BC_MAX_SIZE: not even this size takes the cutoff time; else BC_OK */
};

/* A row; all zeros but for the key before the first visit. All but key and `wrong` is significant
   on rank 0 only. */
struct overlap_row {
    struct overlap_key key;
    struct bc_samples reference_phase; /* the reference time alone, before the search */
    struct bc_samples rounds;          /* of all quantities, with the same work but for the mean */
    struct bc_samples answers;         /* the overlap and the knee of each visit */
    struct bc_samples blocks;          /* the same of parts of the first visit */
    struct overlap_search search;      /* of the first visit */
    struct bc_samples gains;           /* what each visit says of the gain: gain.h */
    struct bc_samples gain_blocks;     /* the same of parts of the first visit */
    double knee_ns;                    /* the work that fits, as far as is known */
    double margin_ns;                  /* by how much more work is tried than that */
    bool knee_is_beyond;               /* even knee and margin may have fitted in all visits so far:
                                          `answers` has the last visit's, which may be too low */
    double fitting_ns;                 /* the work of `rounds`, which must not make the operation
                                          longer: guarantee.c */
    bool was_lowered;                  /* fitting_ns once made it longer, and was lowered */
    double reference_ns;               /* of the first visit, phase 1 */
    bool has_blocking;                 /* the blocking counterpart is timed, too */
    int64_t parts;                     /* of the work */
    int64_t test_calls;                /* between the parts of the work; on every rank */
    double exposed_without_calls_ns;   /* where the number of calls was searched for: with none */
    double size_bytes;                 /* of a block; on every rank */
    int64_t wrong;                     /* operations with wrong data, on this rank */
};

/* One visit of an operation with this number of calls of MPI_Test (or OVERLAP_AUTO) within
   `seconds` (significant on rank 0). Collective. */
void overlap_visit_operation(struct overlap_state *overlap, struct overlap_operation *operation,
                             int64_t test_calls, double seconds, struct overlap_row *row);

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
