/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes and warnings of linkmap, in the form of common/result/warnings.h. */
#pragma once

#define LINKMAP_NOTE_POINTS "note", "%lld link%s between %d %s, timed in %d round%s of %d at a time"

#define LINKMAP_NOTE_NO_VERDICTS "note", "no verdicts: they need at least %d %s"

#define LINKMAP_WARNING_NO_FILE                                                                    \
    "warning", "--exclude: no file was written, since there are no verdicts"

#define LINKMAP_WARNING_UNWRITABLE "warning", "--exclude: %.200s: cannot be written: %s"

/* The times within the first and the second group. */
#define LINKMAP_NOTE_WITHIN_GROUPS "note", "%d bytes: links within two groups take %.3f and %.3f us"

/* The times from the first group to the second, and back. */
#define LINKMAP_NOTE_BETWEEN_GROUPS                                                                \
    "note", "%d bytes: links between the two groups take %.3f us one way, %.3f us the other way"

#define LINKMAP_NOTE_COARSE                                                                        \
    "note", "%d bytes: times vary (routes or load), so only links slower by %.0f %% are suspects"

#define LINKMAP_WARNING_FEW_VISITS                                                                 \
    "warning", "%d bytes: verdicts rest on %d visit%s: use more --visits, --samples or --max-time"

#define LINKMAP_WARNING_UNKNOWN                                                                    \
    "warning", "%d bytes: %d suspects were not timed again and have no verdict: raise --max-time"

#define LINKMAP_WARNING_LOW                                                                        \
    "warning", "%d bytes: %lld link%s below %.3g %% of the expected rate: run checkup.sh there"

#define LINKMAP_WARNING_MOST_LOW                                                                   \
    "warning", "%d bytes: most links are below %.3g %% of the expected rate: run checkup.sh"

#define LINKMAP_WARNING_WRONG_DATA "warning", "%d bytes: wrong data over %lld link%s: %s%s"
