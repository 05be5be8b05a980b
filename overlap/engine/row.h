/* A row: its keys, state kept between visits, and its result. */
#pragma once

#include "overlap/engine/fit.h"
#include "overlap/engine/gain.h"
#include "overlap/engine/state.h"

#include <math.h>

/* The quantities of a round: times of the slowest rank, in ns. Other sequences have the first one
   or two alone.

   If a device works, the host starts the kernel behind the operation's start, finishes the
   operation, and waits for the kernel; the reference does so with an empty kernel. Work is the
   kernel alone, by the device's events. The blocking and the staged counterpart are followed by the
   same kernel as the exposed time's, which is subtracted. So starting and awaiting a kernel is in
   all times but that of work. */
enum overlap_quantity {
    OVERLAP_REFERENCE, /* start and finish */
    OVERLAP_BESIDE,    /* start and finish around more work than fits, without the work */
    OVERLAP_BLOCKING,  /* the blocking counterpart */
    OVERLAP_EXPOSED,   /* start, plenty of work, finish, less that work alone */
    OVERLAP_WORK,      /* OVERLAP_WORK + i: amount i of work alone */
    OVERLAP_TOTAL = OVERLAP_WORK + OVERLAP_AMOUNTS,   /* OVERLAP_TOTAL + i: start, amount i of
                                                         work, finish */
    OVERLAP_STAGED = OVERLAP_TOTAL + OVERLAP_AMOUNTS, /* of buffers on a device: a copy to pinned
                                                         memory, the blocking counterpart there, a
                                                         copy back; the last quantity, which other
                                                         rounds don't have */
    OVERLAP_QUANTITIES
};

/* A row; zeros except the first three members before the first visit. All except these and `wrong`
   is significant on rank 0 only unless it says otherwise. */
struct overlap_row {
    struct op_choice choice;
    int64_t asked_test_calls;          /* or OVERLAP_AUTO */
    bool max_size;                     /* not even this size takes the cutoff time */
    struct bc_samples reference_phase; /* the reference time alone, before the search */
    struct bc_samples rounds;          /* of all quantities, with the same amounts of work */
    struct bc_samples answers;         /* what each visit says: enum overlap_answer_quantity; empty
                                          under the mean */
    struct bc_samples blocks;          /* the same of parts of the only one that counts */
    struct overlap_search search;      /* of the first visit */
    struct bc_samples gains;           /* what each visit says: enum overlap_gain_estimated */
    struct bc_samples gain_blocks;     /* the same of parts of such a visit */
    double knee_ns;                    /* the work that fits, by the visits so far */
    double margin_ns;                  /* by how much more work is tried than that */
    bool knee_is_beyond;               /* even knee and margin may have fitted in all visits so far:
                                          `answers` has the last visit's, which may be too low */
    uint64_t amount_part_units[OVERLAP_AMOUNTS]; /* in each part of each amount of work in `rounds`,
                                                    from the largest down; on every rank */
    double reference_ns;             /* phase 1's; under the mean of all visits so far */
    bool has_blocking;               /* the blocking counterpart is timed, too */
    bool has_staged;                 /* and the same with copies from and to a device */
    int64_t parts;                   /* of the work */
    int64_t test_calls;              /* between the parts of the work; on every rank */
    double exposed_without_calls_ns; /* where the number of calls was searched for: with none */
    double size_bytes;               /* of a block; on every rank */
    int64_t wrong;                   /* operations with wrong data, on this rank */
};

/* A visit's overlap. */
enum overlap_answer_quantity {
    OVERLAP_ANSWER_PCT,       /* the overlap, not yet limited to 0 to 100 % */
    OVERLAP_ANSWER_OTHER_PCT, /* by other quantiles */
    OVERLAP_ANSWER_KNEE,      /* the work that fits, ns */
    OVERLAP_ANSWER_QUANTITIES
};

/* Work shorter than this is as precise as its clock. */
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
    int64_t best_test_calls; /* BC_NO_INTEGER where they weren't looked for */
    struct bc_staged staged;
    struct bc_outcome outcome;
};

/* Returns the summary of a quantity, with a value of at least 0: a time that the clock can't see
   is 0, not less. */
static inline struct bc_summary overlap_summary_of(const struct bc_run *run,
                                                   const struct bc_samples *samples, int quantity)
{
    struct bc_summary summary = bc_samples_summary(run, samples, quantity, -1);
    summary.value = fmax(0.0, summary.value);
    return summary;
}

/* ---- what visits find: local; on rank 0 ------------------------------------------------------ */

/* Appends the overlap by these estimates. */
void overlap_append_answer(const struct overlap_estimates *estimates, struct bc_samples *answers);

/* True if the work makes the operation longer by half of the margin, even by an excess that is
   half_ns less (NAN: none); or the margin is as large as it may get. */
bool overlap_is_beyond(const struct overlap_row *row, double excess_ns, double half_ns);

/* Appends what a visit says. The work must be more than fits, or it says too little of the overlap:
   where all rounds of the visit aren't sure of it, later visits take more work, and the visit
   counts only as long as no other is sure. True if the row has this visit's answer alone. */
bool overlap_take_answer(const struct bc_run *run, const struct overlap_estimates *estimates,
                         struct overlap_row *row);

/* True if the row is what was asked for. */
bool overlap_row_is_precise(const struct overlap_state *overlap, const struct overlap_row *row);

/* Fills in times, overlap, gain and verdict. */
void overlap_summarize(const struct overlap_state *overlap, const struct overlap_row *row,
                       struct overlap_result *result);
