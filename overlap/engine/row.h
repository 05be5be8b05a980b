/*
 * A row: its keys, state kept between visits, and its result.
 *
 * The specification's guarantee holds for the result as printed: work is an amount that was
 * injected, and total, the operation's time with it, exceeds the reference by no more than the
 * acceptance threshold (under the mean by no more than the reference's standard deviation). Each
 * round times several amounts, so that all have the rounds of the reference; the largest amount
 * that keeps the guarantee is printed.
 */
#pragma once

#include "common/device/buffer.h"
#include "common/device/memory.h"
#include "common/run/program.h"
#include "overlap/engine/estimate.h"
#include "common/operations/operation.h"
#include "overlap/engine/search.h"
#include "overlap/engine/work.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- parameters.c: the options --------------------------------------------------------------- */

enum { OVERLAP_TEST_CALLS_MAX = 64, OVERLAP_SIZES_MAX = 64 };

/* As a number of calls of MPI_Test: the one with the min exposed time is looked for. */
#define OVERLAP_AUTO INT64_C(-1)

/* The max number of calls that may be asked for. */
#define OVERLAP_TEST_CALLS_LIMIT 1000000

struct overlap_parameters {
    const char *name; /* "iallreduce"; as `kind` the program's, and no option */
    const struct op_kind *kind;

    int64_t min_elements, max_elements;
    const char *sizes_text; /* bytes, or NULL */
    int64_t validation_steps;
    bool verbose, debug;
    bool data_driven;
    double cutoff_ms;
    double acceptance_pct;
    int64_t default_iterations; /* 0: adaptive */
    int64_t max_iterations;     /* 0: as --max-samples says */
    int64_t root;

    int form;                    /* enum op_form, or OP_FORMS: all */
    const char *test_calls_text; /* numbers, or `auto` */
    double plenty;               /* of work, in reference times */
    double threshold_pct;
    bool no_blocking;
    struct bc_memory_options memory;
    int buffers; /* enum bc_buffers */
    int work;    /* enum overlap_work */

    /* From the texts. */
    int64_t test_calls[OVERLAP_TEST_CALLS_MAX];
    int test_calls_count;
    int64_t elements[OVERLAP_SIZES_MAX]; /* of a data-driven run, each once; all from
                                            min_elements to max_elements */
    int elements_count;                  /* 0: doubling from the min to the max */
};

/* The defaults, as initialisers of the struct. */
#define OVERLAP_DEFAULTS                                                                           \
    .min_elements = 1, .max_elements = 131072, .validation_steps = 2, .cutoff_ms = 1.0,            \
    .acceptance_pct = 0.5, .test_calls_text = "0", .plenty = 2.0, .threshold_pct = 2.0,            \
    .memory = BC_MEMORY_DEFAULTS

/* Collectives without elements keep options about elements: sweeps pass the same options to all. */
enum { OVERLAP_OPTIONS = 21 };
extern const struct bc_option overlap_options[OVERLAP_OPTIONS];

/* Parses the texts of a state that begins with the parameters. False with the error set. Local. */
bool overlap_parameters_complete(void *state, struct bc_error *error);

/* ---- what a run and its rows keep ------------------------------------------------------------ */

/* How much of the largest operations is hidden under plenty of work; zeros before the first one. */
struct overlap_progress {
    double size_bytes;
    const void *variant;          /* of a size's variants only the first one is judged */
    double hidden_pct;            /* without calls of MPI_Test; NAN: no such row */
    double hidden_with_calls_pct; /* the max with calls; NAN: no such row */
    int64_t calls;                /* with which that is */
    bool searched;                /* for the best number of calls, which may be 0 */
};

/* The search for the size of the time-driven model: each size that was tried, with the operation's
   time. The last one takes the cutoff time (`is_found`), or is the largest that was tried. */
enum { OVERLAP_GROWTH_MAX = 128 };
struct overlap_growth {
    int count;
    int64_t elements[OVERLAP_GROWTH_MAX];
    double reference_ns[OVERLAP_GROWTH_MAX];
    bool is_found;
    bool is_late; /* the time was up */
};

/* State that the rows of a run share. */
struct overlap_state {
    struct overlap_parameters parameters; /* first: options are read into it */
    const char *obstacle;  /* on rank 0: what the default max_elements didn't fit into; or NULL */
    bool lacks_persistent; /* on rank 0: rows of that form are left out */
    bool cuts_too_fine;    /* on rank 0: see overlap_probe */
    const char *parts_option; /* of a program that cuts the work by an option of its own: its name;
                                 NULL: --test-calls does */
    int64_t max_parts;        /* the max number of parts that the option asks for */
    struct overlap_growth growth; /* of a time-driven run; the same on every rank */
    bool lacks_size; /* no size takes the cutoff time, and no option limits the sizes */
    struct overlap_progress progress; /* on rank 0 */
    struct op_space space, stage;     /* of buffers; stage: of those that staged operations use */
    struct bc_run *run;
    struct overlap_worker worker;
    struct bc_work_rate first_rate; /* of this rank's work, when the run began */
    struct bc_work_rate rate;       /* the same, corrected by trials; rank 0's is used */
};

/* A row; zeros but for the first three members before the first visit. All but these and `wrong` is
   significant on rank 0 only unless it says otherwise. */
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

/* What a visit says of the overlap. */
enum overlap_answer_quantity {
    OVERLAP_ANSWER_PCT,       /* the overlap, not yet limited to 0 to 100 % */
    OVERLAP_ANSWER_OTHER_PCT, /* by other quantiles */
    OVERLAP_ANSWER_KNEE,      /* the work that fits, ns */
    OVERLAP_ANSWER_QUANTITIES
};

/* Work shorter than this is as precise as its clock. */
#define OVERLAP_SHORT_WORK_NS 1000.0

/* What a row says. Times in ns, with the clock's cost taken off. */
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

/* Whether all sizes are measured: also where the operation has no size to find. */
static inline bool overlap_is_data_driven(const struct overlap_parameters *parameters)
{
    return parameters->data_driven || parameters->kind->no_elements;
}

static inline bool overlap_is_robust(const struct bc_run *run)
{
    return run->settings.estimator == BC_MEDIAN;
}

/* ---- what visits find: local; on rank 0 ------------------------------------------------------ */

/* Appends what these estimates say. */
void overlap_append_answer(const struct overlap_estimates *estimates, struct bc_samples *answers);

/* Whether the work makes the operation longer by half of the margin, even by an excess that is
   half_ns less (NAN: none); or the margin is as large as it may get. */
bool overlap_is_beyond(const struct overlap_row *row, double excess_ns, double half_ns);

/* Appends what a visit says. The work must be more than fits, or it says too little of the overlap:
   where all rounds of the visit aren't sure of it, later visits take more work, and the visit
   counts only as long as no other is sure. Whether the row has this visit's answer alone. */
bool overlap_take_answer(const struct bc_run *run, const struct overlap_estimates *estimates,
                         struct overlap_row *row);

enum { OVERLAP_NO_AMOUNT = -1 };

/* Returns the number (0 to OVERLAP_AMOUNTS - 1) of the largest amount of work that keeps the
   guarantee by the row's rounds, or OVERLAP_NO_AMOUNT: none does, or there are too few rounds. */
int overlap_fitting_amount(const struct overlap_state *overlap, const struct overlap_row *row);

/* Whether the row is what was asked for. */
bool overlap_row_is_precise(const struct overlap_state *overlap, const struct overlap_row *row);

/* Fills in times, overlap, gain and verdict. */
void overlap_summarize(const struct overlap_state *overlap, const struct overlap_row *row,
                       struct overlap_result *result);

/* ---- columns --------------------------------------------------------------------------------- */

#define OVERLAP_OWN_KEYS_MAX 2

#define OVERLAP_MAIN_VALUES                                                                        \
    "ref_us,work_us,total_us,overlap_pct,overlap_lo_pct,overlap_hi_pct,verdict,status"

/* Opens the result (bc_open_result) of a struct that begins with a struct overlap_result. Up to
   OVERLAP_OWN_KEYS_MAX keys of a program's own come after test_calls. `main` names the main columns
   (struct bc_table); where they vary, form and test_calls come before these. Once a run. */
void overlap_open_result(struct bc_run *run, const struct overlap_state *overlap,
                         const struct bc_column *own_keys, size_t own_count, const char *main);

/* ---- sizes.c: which sizes are measured, and into how many parts the work under them is cut --- */

/* Lowers the default of the largest size to what fits into memory and into MPI's counts; false with
   the error set where the sizes that were asked for don't. Local; rank 0. */
bool overlap_fit_sizes(struct overlap_state *overlap, const struct bc_run *run,
                       struct bc_error *error);

/* Checks that the work can be cut into as many parts as --test-calls or overlap->parts_option asks
   for: under the quickest of the smallest size, of `count` variants (an array of elements of
   `bytes` bytes, or NULL), or, in the time-driven model, under one that takes the cutoff time.
   Where it can't: if that is the user's choice (`chosen`, on rank 0), false with the error set;
   else a note will say so. */
bool overlap_probe(struct overlap_state *overlap, struct bc_run *run, size_t count,
                   const void *variants, size_t bytes, bool chosen, struct bc_error *error);

/* Says so in a note. Local. */
void overlap_note_fine_cuts(const struct overlap_state *overlap);

/* Finds the size of a time-driven run, with this variant, and does nothing in a data-driven run. If
   no size takes the cutoff time, and no option limits the sizes, the run becomes data-driven,
   with 128, 8,192 and 131,072 elements. Collective; after overlap_probe. */
void overlap_find_size(struct overlap_state *overlap, const struct bc_run *run,
                       const void *variant);

/* Writes notes on the search for the size. Local. */
void overlap_note_size(const struct overlap_state *overlap);

/* Lists the rows of all sizes, of each of the variants. */
void overlap_list_rows(struct overlap_state *overlap, size_t count, const void *variants,
                       size_t bytes);

/* ---- visit.c --------------------------------------------------------------------------------- */

/* Measures a row (visit->row, a struct overlap_row) in buffers of its own, within visit->seconds.
   Collective. */
void overlap_measure(struct overlap_state *overlap, struct bc_visit *visit);
