/*
 * When does the MPI library make progress: by itself, in MPI's calls only, or not before the wait?
 * Judged from the rows of the largest messages, by the share of the operation's time that isn't
 * exposed under plenty of work (hidden). All functions are local.
 */
#pragma once

#include "common/result/output.h"

#include <stdbool.h>
#include <stdint.h>

/* Messages of this size and more count: smaller ones are often complete when they are posted. */
#define OVERLAP_LARGE_BYTES 65536.0

/* A row. */
struct overlap_progress_row {
    double size_bytes;
    const void *variant; /* of the operation: only one of those of a size is judged */
    int64_t test_calls;
    bool searched; /* test_calls was found by a search, which also tried 0 */
    double reference_ns, exposed_ns;
    double exposed_without_calls_ns; /* what a search found with 0 calls; NAN */
    bool partner_is_in_mpi; /* ranks that don't work are in MPI, and may make the progress */
    bool takes_test_calls;  /* the operation can have calls of MPI_Test in its work */
};

/* What rows of the largest size say; all zeros before the first one. */
struct overlap_progress {
    double size_bytes;
    const void *variant;
    bool partner_is_in_mpi, takes_test_calls;
    bool has_alone, has_calls;    /* a row without calls of MPI_Test, and with */
    bool searched;                /* for the best number of calls, which may be 0 */
    double hidden_pct;            /* without */
    double hidden_with_calls_pct; /* the max */
    int64_t calls;                /* with which that is */
};

/* Takes in a row. */
void overlap_progress_add(struct overlap_progress *progress,
                          const struct overlap_progress_row *row);

/* Writes the judgement as a note; nothing where no row was large. */
void overlap_progress_note(const struct overlap_progress *progress, struct bc_output *output);
