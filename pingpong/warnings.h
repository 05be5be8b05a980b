/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes and warnings of pingpong, in the form of common/result/warnings.h. */
#pragma once

#define PINGPONG_NOTE_MAX_NDATA                                                                    \
    "note", "at most %lld values: more do not fit into memory or /dev/shm"

/* The last text is a reason or empty. */
#define PINGPONG_NOTE_MAX_BLOCKS                                                                   \
    "note", "at most %lld blocks for many puts and gets%s: set --max-blocks"

#define PINGPONG_NOTE_LEFT_OUT                                                                     \
    "note", "no arrangement %s: it needs an even number of ranks, at least 4, got %d"
