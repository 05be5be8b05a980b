/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by the rows of a run. */
#pragma once

#include "overlap/engine/parameters.h"

/* Shares of the largest operations hidden under plenty of work; zeros before the first row. */
struct overlap_progress {
    double size_bytes;
    const void *variant;          /* the first of a size's variants */
    double hidden_pct;            /* without calls of MPI_Test; NAN: no such row */
    double hidden_with_calls_pct; /* the max with calls; NAN: no such row */
    int64_t calls;                /* at that max */
    bool searched;                /* the number of calls was searched */
};

/* Search for the size of the time-driven model: sizes tried, and times. The last size takes the
   cutoff time (`is_found`), or is the largest. */
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
    const char *obstacle;         /* on rank 0: limit of the default max_elements, or NULL */
    bool sizes_are_given;         /* on rank 0: options limit the sizes */
    bool lacks_persistent;        /* on rank 0: leaves out rows of that form */
    bool cuts_too_fine;           /* on rank 0: see overlap_check_cuts */
    const char *parts_option;     /* the option that sets the number of parts; NULL: --test-calls */
    int64_t max_parts;            /* max parts of that option */
    struct overlap_growth growth; /* of a time-driven run; the same on every rank */
    bool lacks_size;              /* no size takes the cutoff time, though none is limited */
    struct overlap_progress progress; /* on rank 0 */
    struct op_space space, stage;     /* of buffers, and of staged buffers */
    struct bc_run *run;
    struct overlap_worker worker;
    struct bc_work_rate first_rate; /* this rank's, at the beginning */
    struct bc_work_rate rate;       /* corrected by trials; rank 0's is used */
};

static inline bool overlap_is_robust(const struct bc_run *run)
{
    return run->settings.estimator == BC_MEDIAN;
}
