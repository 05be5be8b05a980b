/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of the links between all pairs of points, for one message size. Each point keeps the times
 * of its own links.
 *
 * A point is a rank of `points->comm`, which has all ranks or the lowest rank of each node. All
 * functions are collective over it unless noted otherwise; other ranks don't call them.
 */
#pragma once

#include "common/expected/expected.h"
#include "common/memory/buffer.h"

#include <mpi.h>
#include <stdbool.h>

/* Place of a point, which decides the expected rates of its links. */
struct linkmap_place {
    int node, node_rank; /* as in struct bc_job */
    double link_mbs;     /* of the node's network; 0: not known */
};

/* The points and their message buffers; shared by all sizes. */
struct linkmap_points {
    MPI_Comm comm;                   /* MPI_COMM_NULL on ranks that aren't points */
    int count, own;                  /* number of points; number of this one, -1 on other ranks */
    double clock_ns;                 /* cost of one clock reading on this rank */
    bool takes_mean;                 /* of repetitions, instead of the median */
    bool checks;                     /* data is verified, outside the timed region */
    struct bc_buffer sent, received; /* for the largest message, all pages in place */
    struct bc_expected expected;
    struct linkmap_place *places; /* by point; NULL if no rate is known */
};

/* The directions of a link, as each end sees it. Half of a round trip is attributed to each. */
enum linkmap_way { LINKMAP_OUT, LINKMAP_IN, LINKMAP_WAYS };

/* The expected time of a way is LINKMAP_EXPECTED + way. */
enum { LINKMAP_EXPECTED = LINKMAP_WAYS, LINKMAP_WAYS_EXPECTED = 2 * LINKMAP_WAYS };

/* Times in ns, by visit, way and point. All zeros except `points` and `ways` before the first
   visit. */
struct linkmap_times {
    int points;
    int ways; /* LINKMAP_WAYS, or LINKMAP_WAYS_EXPECTED if expected times are known */
    int visits;
    double *ns;
};

/* Adds a visit whose times are NAN. Aborts the job if there is no memory. Local. */
void linkmap_times_add_visit(struct linkmap_times *times);

/* Returns the times of a visit and way, by point. Local. */
double *linkmap_times_of(const struct linkmap_times *times, int visit, int way);

/* Return the times of a point and way, by visit, in an array that the caller frees, or their
   median. Local. */
double *linkmap_times_list(const struct linkmap_times *times, int way, int point);
double linkmap_times_median(const struct linkmap_times *times, int way, int point);

struct linkmap_links {
    const struct linkmap_points *points;
    int bytes;
    bool one_way;    /* each way is timed separately, until an empty answer arrives; otherwise round
                        trips are timed */
    int repetitions; /* of a message, in a visit */
    struct linkmap_times times; /* of links to other points; NAN for this one */
    int *wrong; /* by other point: checks that found wrong data at either end; NULL if data isn't
                   verified */
};

/* ---- kernel.c: the timed region -------------------------------------------------------------- */

enum { LINKMAP_TAG_MESSAGE = 1, LINKMAP_TAG_TIMES, LINKMAP_TAG_CHECK, LINKMAP_TAG_ROW };

/* Sends a message to the partner and waits for its answer: once to warm up, then links->repetitions
   times. Writes the times of the repetitions, including the clock's cost, to `times_ns`. The
   partner calls linkmap_answer. An MPI error aborts the job. */
void linkmap_ask(const struct linkmap_links *links, int partner, double *times_ns);
void linkmap_answer(const struct linkmap_links *links, int partner);

/* ---- the tournament -------------------------------------------------------------------------- */

/* Returns the rounds of a round-robin tournament, in which each pair of points meets once, and a
   point meets at most one other in a round. Made by the circle method (Kirkman, "On a Problem in
   Combinations", Cambridge and Dublin Mathematical Journal 2 (1847); Anderson, Combinatorial
   Designs and Tournaments, 1997). There are points - 1 rounds if `points` is even, else `points`,
   in each of which one point is idle. Local. */
int linkmap_rounds(int points);

/* Returns the partner of a point (0 to points - 1) in a round (0 to linkmap_rounds - 1), or -1 if
   it is idle. Local. */
int linkmap_partner(int point, int round, int points);

/* Begins a visit, which is one tournament. Local. */
void linkmap_begin_visit(struct linkmap_links *links);

/* Times the links of all rounds of the visit's tournament, and checks their data. A link's time is
   the median of the repetitions, or their mean. Each visit pairs points in a different order, so
   that each time different links are busy together. A second tournament finds expected times. */
void linkmap_time_rounds(struct linkmap_links *links);

/* Times both ways of the link to the partner, in ns, while no other link is busy. Only these two
   points call it, and one of them leads. */
void linkmap_time_link(const struct linkmap_links *links, int partner, bool leads,
                       double times_ns[LINKMAP_WAYS]);

/* Returns a link's time: the median of its visits so far. NAN for the point itself. Local. */
double linkmap_time(const struct linkmap_links *links, int way, int partner);

/* Returns the share of the expected rate that a link reaches on its slower way in its fastest
   visit, which interruptions affect least. NAN if it isn't known for this link; the times have
   expected ones. Local. */
double linkmap_share(const struct linkmap_links *links, int partner);

void linkmap_links_free(struct linkmap_links *links);
