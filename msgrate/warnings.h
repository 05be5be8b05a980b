/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes and warnings of msgrate and msgrate_rma, in the form of common/result/warnings.h. */
#pragma once

#define MSGRATE_NOTE_WARM "note", "the caches are not flushed: rates are those of warm caches"

#define MSGRATE_WARNING_SMALL_FLUSH                                                                \
    "warning", "flushing %lld bytes doesn't clear a last-level cache of %lld bytes: use -c llc"

/* The peers, a plural s, the default. */
#define MSGRATE_NOTE_FEWER_PEERS                                                                   \
    "note", "%d peer%s instead of the default %lld, which needs more processes"

#define MSGRATE_NOTE_RESTS "note", "single direction: rank %d rests, since it has no partner"

/* The last text is a remedy or empty. */
#define MSGRATE_NOTE_DISTANCE                                                                      \
    "note", "peers are %d ranks apart, with ranks ordered by node: %d %% of them on other nodes%s"

#define MSGRATE_WARNING_WRONG_DATA "warning", "wrong data in %lld messages, counted over ranks"

#define MSGRATE_WARNING_THREADS                                                                    \
    "warning", "%lld threads a rank share %d processors: use fewer threads or ranks"
