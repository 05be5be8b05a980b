/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late processes: each rank keeps times of collectives, from which compare.h finds the waiting.
 *
 * Each rank keeps its times in up to LATE_KEPT_MAX calls of each function on each communicator,
 * chosen by a hash of their number, so all ranks keep the same calls. A call is kept if its hash is
 * below a limit, which is halved when too many are kept. So the kept calls are spread evenly over
 * the run (Bernoulli sampling; compare J. S. Vitter, "Random Sampling with a Reservoir", ACM TOMS
 * 11(1), 1985).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of kept calls of a series (one function on one communicator), and of series. */
enum { LATE_KEPT_MAX = 4096, LATE_SERIES_MAX = 64 };

/* Ranks that wait in a blocking collective for later ones: all in a synchronising one; in a rooted
   one the root, or the others for the root. */
enum late_wait { ALL_WAIT, OTHERS_WAIT, THE_ROOT_WAITS };

/* Part of a rank in a call (functions.def). */
enum late_part {
    LATE_NOT_COMPARED, /* such calls aren't kept */
    LATE_INDEPENDENT,  /* may leave before another rank comes; rooted: nothing passes between it and
                    the root */
    LATE_MEMBER,       /* needs data of every other rank; rooted: exchanges data with the root */
    LATE_ROOT,
    LATE_PARTS
};

struct late_call {
    int64_t number;
    uint64_t ticks;   /* inside MPI */
    uint64_t entered; /* rooted: when the program called, in ticks */
    enum late_part part;
    bool is_behind_files; /* see inside.h */
    uint16_t site;        /* see sites.h */
};

/* Sum over all calls in which this rank had a part. */
struct late_sum {
    int64_t calls;
    uint64_t ticks; /* sum over these calls */
};

struct late_series {
    int communicator, kind;
    int halvings;  /* of the limit */
    int64_t calls; /* so far, kept or not */
    struct late_sum of_part[LATE_PARTS];
    int kept;
    struct late_call call[LATE_KEPT_MAX]; /* in ascending order of number */
};

/* log2 of the number of slots in the table of series. */
enum { LATE_SLOTS_BITS = 7 };

/* Series of a snapshot, for communicators whose ranks compare their calls. */
struct late {
    int count;
    int64_t
        not_compared; /* calls of rooted collectives on other communicators of several processes */
    struct late_slot {
        uint64_t key; /* 0: the slot is empty */
        int series;
    } slots[1 << LATE_SLOTS_BITS];
    struct late_series series[LATE_SERIES_MAX];
};

/* Adds a call of this function and sets its number. Returns false if there is no room for its
   series. Local; needs the monitor's lock. */
bool late_add(struct late *late, int communicator, int kind, struct late_call call);
