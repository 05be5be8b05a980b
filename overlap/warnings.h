/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of the notes and warnings of the overlap suite: see common/result/warnings.h. */
#pragma once

#include "common/result/warnings.h"

/* ---- the work -------------------------------------------------------------------------------- */

#define OVERLAP_NOTE_WORK "note", "work: %.4f ns a unit"

#define OVERLAP_NOTE_KERNEL                                                                        \
    "note", "work: a kernel of %.3f us and %.4f ns a step, while the processor is in MPI"

/* The change in percent, and the processor or the GPU. */
#define OVERLAP_WARNING_DRIFT                                                                      \
    "warning",                                                                                     \
        "the work's rate changed by %.1f %% on a rank: the clock rate or load of the %s changed"

/* Arguments: an option, and what has no work: "calls …" or "parts …". */
#define OVERLAP_NOTE_FINE_CUTS "note", "the smallest sizes have too little work for %s: some %s"

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Elements, and the limit. */
#define OVERLAP_NOTE_MAX_SIZE "note", "at most %lld elements: more do not fit into %s"

/* An empty text or " within 2 s", and the cutoff time. */
#define OVERLAP_NOTE_NO_SIZE                                                                       \
    "note", "no size%s takes the cutoff time of %g ms: --data-driven measures more"

#define OVERLAP_NOTE_SEARCH_ENDED                                                                  \
    "note", "the search for a size that takes the cutoff time ended after %g s"

#define OVERLAP_WARNING_SEARCH_DISTURBED                                                           \
    "warning", "the operation took %.3f us, less than half of --cutoff-time: the size search was " \
               "disturbed"

/* ---- rows ------------------------------------------------------------------------------------ */

#define OVERLAP_NOTE_NO_SUCH_FORM "note", "no rows of the form persistent: %s has no such form"

#define OVERLAP_NOTE_FORM_MISSING                                                                  \
    "note", "no rows of the form persistent: this MPI library has no %s that starts twice"

#define OVERLAP_NOTE_METHOD_MISSING "note", "no %s: this MPI library has no such function"

/* A method, and the form that it lacks. */
#define OVERLAP_NOTE_OTHER_FORM "note", "no rows of %s: it has no %s form"

/* The number, and an "s" or an empty text. */
#define OVERLAP_NOTE_PARTITIONS                                                                    \
    "note", "%lld partition%s: the default number does not divide the requested sizes"

/* The judgement, the share, the size, and the effect of calls. */
#define OVERLAP_NOTE_PROGRESS "note", "%s: work hides %.0f %% of an operation of %.0f bytes%s"
