/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes and warnings of mpi_overhead, in the form of common/result/warnings.h. */
#pragma once

#define OVERHEAD_NOTE_ONE_NODE                                                                     \
    "note",                                                                                        \
        "the reported pair, ranks 0 and %d, is on one node: use --all-pairs to report every pair"

/* The next three are for rows whose status is no-knee. */
#define OVERHEAD_NOTE_NO_KNEE                                                                      \
    "note", "row %lld: no knee: no amount of work that was tried exceeded the transfer: raise "    \
            "--max-time"

#define OVERHEAD_NOTE_BASE_ROSE "note", "row %lld: base_t rose with the work: lower --bthresh"

#define OVERHEAD_NOTE_IMPOSSIBLE                                                                   \
    "note", "row %lld: iter_t - work_t is below 0 or above base_t: rerun on a quiet machine"
