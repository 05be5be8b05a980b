/*
 * When does the MPI library make progress: by itself, in MPI's calls only, or not before the wait?
 * Judged from the rows of the largest messages, by the share of the operation's time that isn't
 * exposed under plenty of work. All functions are local.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_PROGRESS_H
#define COMMCOST_OVERLAP_ENGINE_PROGRESS_H

#include "common/result/output.h"

#include <stdbool.h>
#include <stdint.h>

/* Messages of this size and more count: smaller ones are often complete when they are posted. */
#define OVERLAP_LARGE_BYTES 65536.0

/* What rows of the largest size say; all zeros before the first one. */
struct overlap_progress {
    double size_bytes;
    bool has_alone, has_calls;    /* a row without calls of MPI_Test, and with */
    double hidden_pct;            /* without */
    double hidden_with_calls_pct; /* the most */
    int64_t calls;                /* with which that is */
};

/* Takes in a row. */
void overlap_progress_add(struct overlap_progress *progress, double size_bytes, int64_t test_calls,
                          double reference_ns, double exposed_ns);

/* Writes the judgement as a note; nothing where no row was large. */
void overlap_progress_note(const struct overlap_progress *progress, struct bc_output *output);

#endif
