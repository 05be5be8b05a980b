/*
 * The times of the links between all pairs of points, of one message size. A point is a node, for
 * which its lowest rank stands, or a rank. Each point keeps the times of its own links.
 *
 * A point is a rank of the communicator `points->comm`. All functions are collective over it unless
 * noted otherwise; ranks that aren't points don't call them.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* The points, and what messages are made of; shared by all sizes. */
struct linkmap_points {
    MPI_Comm comm;         /* MPI_COMM_NULL on ranks that aren't points */
    int count, own;        /* the number of points, and this one's number; -1 on other ranks */
    double clock_ns;       /* cost of one clock reading on this rank */
    bool takes_mean;       /* of repetitions; otherwise the median */
    bool checks;           /* whether the data of messages is verified, apart from the timing */
    void *sent, *received; /* buffers for the largest message, all pages in place */
};

/* The directions of a link, as each end sees it. A round trip counts as half of it in each. */
enum linkmap_way { LINKMAP_OUT, LINKMAP_IN, LINKMAP_WAYS };

/* Times in ns, by visit, way and point. All zeros but `points` before the first visit. */
struct linkmap_times {
    int points, visits;
    double *ns;
};

/* Adds a visit whose times are NAN. Local; without memory the job ends. */
void linkmap_times_add_visit(struct linkmap_times *times);

/* Returns the times of a visit and way, by point. Local. */
double *linkmap_times_of(const struct linkmap_times *times, int visit, int way);

/* Returns the times of a point and way, by visit, in an array that the caller frees; their median.
 * Local.
 */
double *linkmap_times_list(const struct linkmap_times *times, int way, int point);
double linkmap_times_median(const struct linkmap_times *times, int way, int point);

struct linkmap_links {
    const struct linkmap_points *points;
    int bytes;
    bool one_way;    /* each way is timed separately, until an empty answer is back; otherwise round
                        trips are timed */
    int repetitions; /* of a message, in a visit */
    struct linkmap_times times; /* of the links to the other points; NAN for this one */
    int *wrong; /* by the other point: checks that found wrong data at either end; NULL where data
                   isn't verified */
};

/* ---- kernel.c: the timed region -------------------------------------------------------------- */

/* The tags of all messages. */
enum { LINKMAP_TAG_MESSAGE = 1, LINKMAP_TAG_TIMES, LINKMAP_TAG_CHECK, LINKMAP_TAG_ROW };

/* Sends a message to the partner and waits for its answer: once to warm up, then
   links->repetitions times, whose times go to `times_ns`, the clock's cost included. The partner
   calls linkmap_answer. An MPI error ends the job. */
void linkmap_ask(const struct linkmap_links *links, int partner, double *times_ns);
void linkmap_answer(const struct linkmap_links *links, int partner);

/* ---- the tournament -------------------------------------------------------------------------- */

/* A round-robin tournament: all pairs of points meet once, in the min number of rounds, in
   each of which a point meets at most one other. The circle method (Kirkman, "On a Problem in
   Combinations", Cambridge and Dublin Mathematical Journal 2 (1847); Anderson, Combinatorial
   Designs and Tournaments, 1997). The number of rounds: points - 1 if `points` is even; otherwise
   `points`, in each of which one point rests. Local. */
int linkmap_rounds(int points);

/* Returns the partner of a point (0 to points - 1) in a round (0 to linkmap_rounds - 1); -1: it
   rests. Local. */
int linkmap_partner(int point, int round, int points);

/* Begins a visit: a tournament of all pairs of points, each of which meets once. Local. */
void linkmap_begin_visit(struct linkmap_links *links);

/* Times the links of all rounds of the visit's tournament, and checks their data. A link's time is
   the median of the repetitions, or their mean. Each visit pairs points in another order, so that a
   link is busy together with other links each time. */
void linkmap_time_rounds(struct linkmap_links *links);

/* Times the link between this point and the partner while no other link is busy: ns, both ways.
   Only these two points call it, and one of them leads. */
void linkmap_time_link(const struct linkmap_links *links, int partner, bool leads,
                       double times_ns[LINKMAP_WAYS]);

/* Returns a link's time: the median of its visits so far. NAN for the point itself. Local. */
double linkmap_time(const struct linkmap_links *links, int way, int partner);

/* Local. */
void linkmap_links_free(struct linkmap_links *links);
