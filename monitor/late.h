/*
 * Late processes: how long ranks wait in collectives that synchronise.
 *
 * In such a collective nobody leaves before the last one has come. So of the ranks' times in a call
 * the shortest is that of the rank that came last: the call's own cost; what a rank's time is
 * longer is waiting. No clock is shared for that.
 *
 * Each rank keeps its times in up to LATE_KEPT_MAX calls of each function on each communicator,
 * chosen by their number, and so the same calls on all ranks: a call is kept if a hash of its
 * number is below a limit, which is halved, and with it the calls that are kept, whenever these are
 * too many. So they are spread evenly over the run, however long that is (Bernoulli sampling;
 * compare J. S. Vitter, "Random Sampling with a Reservoir", ACM TOMS 11(1), 1985).
 *
 * The time of all calls together is known. Mostly what makes a call long is waiting, so that the
 * time of all tells more of the waiting in all than the calls that were kept do by themselves: few
 * long ones may be among these or not (the regression estimator: W. G. Cochran, "Sampling
 * Techniques", 3rd edition, 1977, chapter 7).
 */
#ifndef COMMCOST_MONITOR_LATE_H
#define COMMCOST_MONITOR_LATE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Calls of one function on one communicator that are kept, and how many such series there are room
   for. */
enum { LATE_KEPT_MAX = 4096, LATE_SERIES_MAX = 64 };

struct late_call {
    int64_t number;
    uint64_t ticks; /* inside MPI */
};

/* What else is kept of a call of a rooted collective, see rooted.h. */
struct late_entry {
    uint64_t ticks; /* when it was entered */
    bool is_root;   /* whether this rank was the call's root */
};

/* All calls in which this rank was the root, or was not, kept or not. */
struct late_role {
    int64_t calls;
    uint64_t ticks; /* in them together */
};

struct late_series {
    int communicator, kind;
    int halvings;             /* of the limit */
    int64_t calls;            /* so far, kept or not */
    struct late_role role[2]; /* of these by whether this rank was the root; [0]: no root at all */
    int kept;
    struct late_call call[LATE_KEPT_MAX];   /* by rising number */
    struct late_entry entry[LATE_KEPT_MAX]; /* of the same calls, where they are rooted */
};

/* The series of a snapshot. Pages that are never used take no memory. */
struct late {
    int count;
    struct late_series series[LATE_SERIES_MAX];
};

/* Adds a call of this function that took `ticks`. Returns whether there was room for its
   series. Local; the caller has the monitor's lock. */
bool late_add(struct late *late, int communicator, int kind, uint64_t ticks);

/* The same for a rooted collective. */
bool late_add_rooted(struct late *late, int communicator, int kind, uint64_t ticks,
                     struct late_entry entry);

/* What a rank waited in the calls of a series, in ticks a call. */
struct late_waiting {
    double mean_ticks;
    double error_ticks; /* standard error of the mean, for the calls that were not kept */
    double skew_ticks;  /* by how much ranks may leave a call at other times */
    int64_t calls;
    int64_t last; /* calls in which this rank came last, of those that were kept */
    int ranks;    /* that have the series; if it isn't all of the communicator nothing is known */
};

/*
 * Compares the times that the ranks of a communicator kept of a series: `series` is NULL on ranks
 * that don't have it. Ranks that leave a call at other times have the difference in their waiting,
 * which is known to no more than what the call takes by itself, the 5 % quantile of the shortest
 * times. Collective over `comm`, of which the communicator's ranks are some; not thread-safe. False
 * if the ranks have kept other calls: then nothing can be said.
 */
bool late_compare(const struct late_series *series, MPI_Comm comm, struct late_waiting *waiting);

/* Whether all ranks that have the series counted as many calls, and kept as many, and any. Sets how
   many ranks have it, and how many calls they kept. Collective in the same way. */
bool late_kept_alike(const struct late_series *series, MPI_Comm comm, int *ranks, int *kept);

/* A mean over all calls of a series. */
struct late_mean {
    double mean;
    double error; /* standard error, for the calls that were not kept */
    double shift; /* by how much it differs from the mean of the calls that were kept */
};

/* The mean of what a rank waited, from what it waited in each of the calls that the series kept, in
   any unit, of which a tick has `tick`. It waits only where it is the root, or only where it is
   not. Local. */
struct late_mean late_mean(const struct late_series *series, const double waited[], bool as_root,
                           double tick);

/* The smallest key of any rank: `key` is this rank's, or INT64_MAX. (MPICH 4.0 compares numbers of
   MPI_UINT64_T as if they had signs.) Collective over `comm`. */
int64_t late_next_key(int64_t key, MPI_Comm comm);

#endif
