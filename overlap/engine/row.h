/*
 * A row: what its visits have found so far, and what it says in the end.
 *
 * What it says of work and total is of work that was seen not to make the operation longer than its
 * reference, in the same rounds but for the mean: the specification's guarantee.
 */
#pragma once

#include "common/clock/work.h"
#include "common/run/run.h"
#include "overlap/engine/estimate.h"
#include "overlap/engine/operation.h"
#include "overlap/engine/parameters.h"
#include "overlap/engine/progress.h"
#include "overlap/engine/search.h"

#include <stdbool.h>
#include <stdint.h>

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

/* Whether all sizes are measured: also where the operation has no size to find. */
static inline bool overlap_is_data_driven(const struct overlap_parameters *parameters)
{
    return parameters->data_driven || parameters->kind->no_elements;
}

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
    struct bc_samples answers;         /* what each visit says: enum overlap_answer_quantity */
    struct bc_samples blocks;          /* the same of parts of the only one that counts */
    struct overlap_search search;      /* of the first visit */
    struct bc_samples gains;           /* what each visit says: enum overlap_gain_estimated */
    struct bc_samples gain_blocks;     /* the same of parts of such a visit */
    double knee_ns;                    /* the work that fits, by the visits so far */
    double margin_ns;                  /* by how much more work is tried than that */
    bool knee_is_beyond;               /* even knee and margin may have fitted in all visits so far:
                                          `answers` has the last visit's, which may be too low */
    double fitting_ns;                 /* the work of `rounds`, which must not make the operation
                                          longer */
    bool was_lowered;                  /* fitting_ns once made it longer, and was lowered */
    double reference_ns;               /* of the first visit, phase 1 */
    bool has_blocking;                 /* the blocking counterpart is timed, too */
    int64_t parts;                     /* of the work */
    int64_t test_calls;                /* between the parts of the work; on every rank */
    double exposed_without_calls_ns;   /* where the number of calls was searched for: with none */
    double size_bytes;                 /* of a block; on every rank */
    int64_t wrong;                     /* operations with wrong data, on this rank */
};

/* What a visit says of the overlap. */
enum overlap_answer_quantity {
    OVERLAP_ANSWER_PCT,       /* the overlap, not yet limited to 0 to 100 % */
    OVERLAP_ANSWER_OTHER_PCT, /* by other quantiles */
    OVERLAP_ANSWER_KNEE,      /* the work that fits, ns */
    OVERLAP_ANSWER_LO,        /* the bracket of the search in percent, under the mean only */
    OVERLAP_ANSWER_HI,
    OVERLAP_ANSWER_QUANTITIES
};

/* Work shorter than this is as precise as its clock. */
#define OVERLAP_SHORT_WORK_NS 1000.0

/* A part of a whole in percent, limited to 0 to 100. */
double overlap_percent(double part, double whole);

/* ---- what a row says so far: local; on rank 0 ------------------------------------------------ */

/* The pseudomedian and interval of what the visits, or parts of the first one, say. */
struct bc_summary overlap_summarize_answers(const struct bc_run *run,
                                            const struct bc_samples *answers, int quantity);

/* The reference and the total of a row, or of these rounds of it, as its result has them.
   `beyond_ns`: by how much the total's interval lies beyond what the acceptance threshold allows of
   the reference's value; 0 or less: it doesn't. */
struct overlap_fit {
    struct bc_summary reference, total;
    double beyond_ns;
};
struct overlap_fit overlap_fit_of(const struct overlap_state *overlap,
                                  const struct overlap_row *row, const struct bc_samples *rounds);

/* Whether the row is what was asked for. */
bool overlap_row_is_precise(const struct overlap_state *overlap, const struct overlap_row *row);

/* ---- what it says in the end ----------------------------------------------------------------- */

/* On rank 0. Times in ns, with the clock's cost taken off. */
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

/* Fills in the result, which begins as zeros, on rank 0, and frees what the row holds. Collective.
 */
void overlap_conclude(struct overlap_state *overlap, struct overlap_row *row,
                      struct overlap_result *result);
