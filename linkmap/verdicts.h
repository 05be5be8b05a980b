/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model of link times of one message size (map.c), and verdicts on points and links (verdicts.c).
 */
#pragma once

#include "common/stats/stats.h"
#include "linkmap/links.h"

/* Min points for verdicts: fewer have no majority to compare a slow one with. */
enum { LINKMAP_POINTS_MIN = 4 };

/* The deviation of a few points' links is uncertain. With fewer points the rules for this number
   apply: chance then yields more suspects, which timing again clears. */
enum { LINKMAP_POINTS_FOR_SIGMA = 8 };

/* Model of link times: the usual time of a link, the effects of single points, and two groups of
   points if links between groups and within them differ in time. All members except times_ns are
   the same on all points. Memory grows with the number of points, not with its square. */
enum { LINKMAP_GROUPS_MAX = 2 };
struct linkmap_map {
    const struct linkmap_links *links;
    MPI_Comm comm;
    int count, own;                 /* number of points; number of this one */
    double *times_ns[LINKMAP_WAYS]; /* of this point's links; NAN for the point itself */
    int groups;                     /* 1 or 2 */
    int *group;                     /* of each point: 0 or 1; the first point's is 0 */
    double expected_ns[LINKMAP_GROUPS_MAX][LINKMAP_GROUPS_MAX]; /* from group to group */
    double *effect_ns[LINKMAP_WAYS];                            /* of each point on its links */
    double sigma_ns;                                            /* of the residual of a link */
    double effect_sigma_ns[LINKMAP_WAYS];                       /* of effect_ns */
};

/* Makes the map of all links timed so far. There are two groups only if each has a quarter of the
   points and at least two, if links within and between them differ by more than `threshold` (a
   share of the min), and if neither a minority of slow points nor a single slow link explains the
   difference. Collective over points->comm. */
void linkmap_map_make(struct linkmap_map *map, const struct linkmap_links *links, double threshold);
void linkmap_map_free(struct linkmap_map *map);

/* Return the time of a link that its groups alone explain, and the range of all groups. Local. */
double linkmap_expected(const struct linkmap_map *map, int from, int to);
struct bc_interval linkmap_expected_range(const struct linkmap_map *map);

/* Returns linkmap_expected plus the effects of the link's points. Local. */
double linkmap_explained(const struct linkmap_map *map, int from, int to);

/* Returns the median of the values that aren't NAN, or NAN if there are none. Local. */
double linkmap_median(const double *values, int count);

enum linkmap_fault {
    LINKMAP_UNKNOWN, /* suspected, but not timed again */
    LINKMAP_EVEN,
    LINKMAP_SLOW,     /* both ways; for round trips, at least one */
    LINKMAP_SLOW_OUT, /* a point as a sender, or the way from a pair's first point */
    LINKMAP_SLOW_IN
};

/* Verdicts as printed in a result; NULL for LINKMAP_UNKNOWN. */
extern const char *const linkmap_fault_names[];

/* A suspected point or link. */
struct linkmap_suspect {
    int from, to;     /* of a link; equal for a point */
    int way;          /* of a point: enum linkmap_way; LINKMAP_OUT for a link */
    int timed;        /* 1 if it was timed again, else 0 */
    int slow;         /* 1 if it was slow again, else 0 */
    double more_ns;   /* excess over the time that the map explains */
    double alone_pct; /* excess over controls, in percent */
};

struct linkmap_verdicts {
    struct linkmap_map map;
    struct linkmap_suspect *suspects; /* the same on all points: points, then links */
    int count;
    int left_out; /* number of suspected links not in `suspects` */
    /* Min excess of a suspected link, as a share of the explained time: the threshold, or more if
       the times of links vary more. */
    double resolution;
};

struct linkmap_limits {
    double alpha, threshold; /* shares, 0 to 1 */
    double seconds;          /* approximate limit for timing suspects again */
};

/* Makes the map, finds suspects and times them again, until a signal arrives. Free with
   linkmap_verdicts_free. Collective over points->comm, which has LINKMAP_POINTS_MIN ranks or more.
   */
void linkmap_judge(struct linkmap_verdicts *verdicts, const struct linkmap_links *links,
                   const struct linkmap_limits *limits);

/* Returns the fault of a point (from == to) or of the links between two points (from < to). Sets
 *alone_pct to that of the slower suspected way, or NAN if none was suspected. Local. */
enum linkmap_fault linkmap_fault_of(const struct linkmap_verdicts *verdicts, int from, int to,
                                    double *alone_pct);

/* Sets a pair of points (from < to) to the next pair with a slow link, in the order of `from` and
   `to`. Returns false if there is none. Time grows with the number of suspects. Local. */
bool linkmap_next_slow(const struct linkmap_verdicts *verdicts, int *from, int *to);

void linkmap_verdicts_free(struct linkmap_verdicts *verdicts);
