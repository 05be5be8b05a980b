/* SPDX-License-Identifier: BSD-3-Clause */
/* A row: its keys, state kept between visits, and its result. */
#pragma once

#include "overlap/engine/fit.h"
#include "overlap/engine/gain.h"
#include "overlap/engine/state.h"

#include <math.h>

/* Quantities of a round: times of the slowest rank, in ns. If a device works, the host starts the
   kernel after the operation's start, finishes the operation, and waits for the kernel; the
   reference has an empty kernel. Work is the kernel alone, by the device's events. The blocking and
   the staged counterpart precede the exposed time's kernel, which is subtracted. */
enum overlap_quantity {
    OVERLAP_REFERENCE, /* start and finish */
    OVERLAP_BESIDE,    /* start and finish around more work than fits, less the work */
    OVERLAP_BLOCKING,  /* the blocking counterpart */
    OVERLAP_EXPOSED,   /* start, plenty of work, finish, less the work */
    OVERLAP_WORK,      /* + i: amount i of work alone */
    OVERLAP_TOTAL = OVERLAP_WORK + OVERLAP_AMOUNTS, /* + i: start, amount i, finish */
    OVERLAP_STAGED =
        OVERLAP_TOTAL + OVERLAP_AMOUNTS, /* last: the staged counterpart, of buffers on a device */
    OVERLAP_QUANTITIES
};

/* A row; the first three members are set before the first visit. All others except `wrong` are
   significant on rank 0 only, unless noted. */
struct overlap_row {
    struct op_choice choice;
    int64_t asked_test_calls;          /* or OVERLAP_AUTO */
    bool max_size;                     /* this size doesn't take the cutoff time */
    struct bc_samples reference_phase; /* phase 1 */
    struct bc_samples rounds;          /* of all quantities */
    struct bc_samples answers; /* of visits: enum overlap_answer_quantity; empty under the mean */
    struct bc_samples blocks;  /* of parts of a single visit */
    struct overlap_search search;  /* of the first visit */
    struct bc_samples gains;       /* of visits: enum overlap_gain_estimated */
    struct bc_samples gain_blocks; /* of parts of a single visit */
    double knee_ns;                /* the work that fits, so far */
    double margin_ns;              /* work tried in addition */
    bool knee_is_beyond; /* knee and margin may have fitted in all visits: `answers` has the last
                            visit's, which may be too low */
    uint64_t amount_part_units[OVERLAP_AMOUNTS]; /* in each part, from the largest amount down; on
                                                    every rank */
    double reference_ns;                         /* phase 1's */
    bool has_blocking;
    bool has_staged;
    int64_t parts;                   /* of the work */
    int64_t test_calls;              /* between the parts of the work; on every rank */
    double exposed_without_calls_ns; /* with --test-calls=auto */
    double size_bytes;               /* of a block; on every rank */
    int64_t wrong;                   /* operations with wrong data, on this rank */
};

enum overlap_answer_quantity {
    OVERLAP_ANSWER_PCT,       /* not limited to 0 to 100 % */
    OVERLAP_ANSWER_OTHER_PCT, /* by exchanged quantiles */
    OVERLAP_ANSWER_KNEE,      /* the work that fits, ns */
    OVERLAP_ANSWER_QUANTITIES
};

/* Shorter work is as precise as its clock. */
#define OVERLAP_SHORT_WORK_NS 1000.0

/* The result of a row. Times in ns, without the clock's cost. */
struct overlap_result {
    const char *collective, *model, *form, *buffers;
    char test_calls[24];
    int64_t elements;
    double size_bytes;

    struct bc_summary reference, work, total;
    double overlap_pct, overlap_lo_pct, overlap_hi_pct;
    struct overlap_gain gain;
    const char *verdict;
    int64_t best_test_calls; /* BC_NO_INTEGER if there was no search */
    struct bc_staged staged;
    struct bc_outcome outcome;
};

/* Returns the summary of a quantity; a time below the clock's resolution is 0, not negative. */
static inline struct bc_summary overlap_summary_of(const struct bc_run *run,
                                                   const struct bc_samples *samples, int quantity)
{
    struct bc_summary summary = bc_samples_summary(run, samples, quantity, -1);
    summary.value = fmax(0.0, summary.value);
    return summary;
}

/* ---- results of visits: local; on rank 0 ----------------------------------------------------- */

void overlap_append_answer(const struct overlap_estimates *estimates, struct bc_samples *answers);

/* True if the work makes the operation longer by half of the margin, even by an excess that is
   half_ns less (NAN: none); or the margin is at its max. */
bool overlap_is_beyond(const struct overlap_row *row, double excess_ns, double half_ns);

/* Appends a visit's overlap. If its rounds don't surely show that the work is more than fits, later
   visits take more work, and this visit is used only until another visit is sure. True if the row
   has this visit's answer alone. */
bool overlap_take_answer(const struct bc_run *run, const struct overlap_estimates *estimates,
                         struct overlap_row *row);

bool overlap_row_is_precise(const struct overlap_state *overlap, const struct overlap_row *row);

void overlap_summarize(const struct overlap_state *overlap, const struct overlap_row *row,
                       struct overlap_result *result);
