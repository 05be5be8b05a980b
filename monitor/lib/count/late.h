/*
 * Late processes: the times that ranks keep of collectives, for compare.h to find how long ranks
 * wait.
 *
 * Each rank keeps its times in up to LATE_KEPT_MAX calls of each function on each communicator,
 * chosen by their number, and so the same calls on all ranks: a call is kept if a hash of its
 * number is below a limit, which is halved, and with it the calls that are kept, whenever these are
 * too many. So they are spread evenly over the run, however long that is (Bernoulli sampling;
 * compare J. S. Vitter, "Random Sampling with a Reservoir", ACM TOMS 11(1), 1985).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Calls of one function on one communicator that are kept, and how many such series there are room
   for. */
enum { LATE_KEPT_MAX = 4096, LATE_SERIES_MAX = 64 };

/* The ranks that wait in a blocking collective for those that come later: all, in one that
   synchronises; in a rooted one the root, or the others for the root. */
enum late_wait { ALL_WAIT, OTHERS_WAIT, THE_ROOT_WAITS };

/* The part of a rank in a call (functions.def). */
enum late_part {
    LATE_NOT_COMPARED, /* such calls tell no waiting, whatever they move: they aren't kept */
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
};

/* All calls in which this rank had a part, kept or not. */
struct late_sum {
    int64_t calls;
    uint64_t ticks; /* in them together */
};

struct late_series {
    int communicator, kind;
    int halvings;  /* of the limit */
    int64_t calls; /* so far, kept or not */
    struct late_sum of_part[LATE_PARTS];
    int kept;
    struct late_call call[LATE_KEPT_MAX]; /* by rising number */
};

/* Finds a series in a few steps, however many there are. */
enum { LATE_PLACES_BITS = 7 };

/* The series of a snapshot, of communicators whose ranks compare them. Pages that are never used
   take no memory. */
struct late {
    int count;
    int64_t
        not_compared; /* calls of rooted collectives on other communicators of several processes */
    struct late_place {
        uint64_t key; /* 0: the place is empty */
        int series;
    } places[1 << LATE_PLACES_BITS];
    struct late_series series[LATE_SERIES_MAX];
};

/* Adds a call of this function. The call's number is set here. Returns whether there was room for
   its series. Local; the caller has the monitor's lock. */
bool late_add(struct late *late, int communicator, int kind, struct late_call call);
