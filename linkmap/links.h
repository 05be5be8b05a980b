/*
 * The times of the links of one message size: of all pairs of points (nodes or ranks), each rank
 * keeps those between itself and the others.
 *
 * A point is a rank of the communicator `points->comm`. All functions are collective over it unless
 * they say otherwise; ranks that are no points don't call them.
 */
#ifndef COMMCOST_LINKMAP_LINKS_H
#define COMMCOST_LINKMAP_LINKS_H

#include "common/stats/stats.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The points, and what messages are made of; shared by all sizes. */
struct linkmap_points {
    MPI_Comm comm;   /* MPI_COMM_NULL on ranks that are none */
    int count, own;  /* the number of points, and this one's; own is -1 on ranks that are none */
    double clock_ns; /* what reading the clock adds to a time on this rank */
    enum bc_estimator estimator; /* of repetitions, and of visits */
    bool checks;           /* whether the data of messages is verified, apart from the timing */
    void *sent, *received; /* as in struct linkmap_message */
};

/* The ways of a link, as each end sees it. Where a round trip is timed both have half of it. */
enum linkmap_way { LINKMAP_OUT, LINKMAP_IN, LINKMAP_WAYS };

struct linkmap_links {
    int bytes;
    bool one_way;    /* each way is timed by itself, until an empty answer is back; otherwise half
                        of a round trip is */
    int repetitions; /* of a message, in a visit */
    int visits, capacity;
    double *times_ns; /* by visit, way and the other point; NAN for the point itself */
    int *wrong;       /* by the other point: checks of the link that found wrong data at either end;
                         NULL where data isn't verified */
};

/* The tags of all messages. */
enum { LINKMAP_TAG_MESSAGE = 1, LINKMAP_TAG_TIMES, LINKMAP_TAG_CHECK, LINKMAP_TAG_ROW };

/* From how many bytes on each way of a link is timed by itself. */
enum { LINKMAP_ONE_WAY_BYTES = 4096 };

/* Called on every rank between two blocks of rounds of a tournament, after `rounds` of all. */
typedef void linkmap_between_fn(void *context, int rounds);

/* Times every link once more: all pairs of points in a tournament, as many at a time as there can
   be; each visit has its own order of points, so that links are busy together with others each
   time. A link's time is the median of the repetitions, or their mean. Calls `between` after each
   `block` rounds but the last; NULL: never. */
void linkmap_visit(struct linkmap_links *links, const struct linkmap_points *points, int block,
                   linkmap_between_fn *between, void *context);

/* Times the link of this point and the partner alone, the same way: ns, both ways. The two points
   call it, one as the one that leads. */
void linkmap_time_link(const struct linkmap_links *links, const struct linkmap_points *points,
                       int partner, bool leads, double times_ns[LINKMAP_WAYS]);

/* A link's time: the median of its visits so far. NAN for the point itself, and before any visit.
   Local. */
double linkmap_time(const struct linkmap_links *links, const struct linkmap_points *points,
                    enum linkmap_way way, int partner);

/* The summary of what visits say; may reorder `values`. Local. */
struct bc_summary linkmap_over_visits(double *values, size_t visits, enum bc_estimator estimator,
                                      double confidence);

/* What a link took in each visit, to `values`, which has room for all. Local. */
void linkmap_times(const struct linkmap_links *links, const struct linkmap_points *points,
                   enum linkmap_way way, int partner, double *values);

/* The median of this point's links by one visit; those that weren't timed don't count. Local. */
double linkmap_visit_median(const struct linkmap_links *links, const struct linkmap_points *points,
                            int visit, enum linkmap_way way);

/* Local. */
void linkmap_links_free(struct linkmap_links *links);

#endif
