/* State that the rows of a run share. */
#pragma once

#include "overlap/engine/parameters.h"

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

static inline bool overlap_is_robust(const struct bc_run *run)
{
    return run->settings.estimator == BC_MEDIAN;
}
