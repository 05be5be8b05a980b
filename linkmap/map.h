/*
 * What explains the times of the links of one message size: the usual time of a link, the effects
 * of single points, and two groups of points, if links between them take another time than within.
 *
 * The time from point i to point j is expected to be the usual one from i's group to j's, plus the
 * effects of i on what it sends and of j on what it receives. Each of these is a median over many
 * links, as in Tukey's median polish (Exploratory Data Analysis, 1977, ch. 10), so a few slow links
 * don't change it. A map is the same on all points, but for the point's own times; its memory grows
 * with the number of points, not with its square.
 */
#pragma once

#include "common/stats/stats.h"
#include "linkmap/links.h"

enum { LINKMAP_GROUPS_MAX = 2 };

/* Min points for verdicts: among fewer there is no majority to which a slow one compares. */
enum { LINKMAP_POINTS_MIN = 4 };

/* The deviation of links from a few points is uncertain. With fewer points than this the rules for
   this number apply: chance makes more of them suspected, and timing them again clears these. */
enum { LINKMAP_POINTS_FOR_SIGMA = 8 };

struct linkmap_map {
    MPI_Comm comm;
    int points, own;                /* the number of points, and this one's number */
    double *times_ns[LINKMAP_WAYS]; /* of this point's links; NAN for the point itself */
    int groups;                     /* 1 or 2 */
    int *group;                     /* of each point: 0 or 1; the first point's is 0 */
    double expected_ns[LINKMAP_GROUPS_MAX][LINKMAP_GROUPS_MAX]; /* from group to group */
    double *effect_ns[LINKMAP_WAYS];                            /* of each point on its links */
    double sigma_ns;                                            /* of the residual of a link */
    double effect_sigma_ns[LINKMAP_WAYS];                       /* of effect_ns */
};

/* Makes the map of all links timed so far. There are two groups only if each has a quarter of the
   points and at least two, if links within and between them differ by more than `threshold` (0.2: a
   fifth) of the min, and if neither a minority of points that are slow with all others nor one slow
   link explains that. Free it with linkmap_map_free. Collective over points->comm, which has
   LINKMAP_POINTS_MIN ranks or more. */
void linkmap_map_make(struct linkmap_map *map, const struct linkmap_links *links,
                      const struct linkmap_points *points, double threshold);

/* The time of a link that its groups alone explain, and the min and max of all groups. Local. */
double linkmap_expected(const struct linkmap_map *map, int from, int to);
struct bc_interval linkmap_expected_range(const struct linkmap_map *map);

/* The same with the effects of the link's points. Local. */
double linkmap_explained(const struct linkmap_map *map, int from, int to);

/* The median of the values that are numbers; NAN if none is. Local. */
double linkmap_median(const double *values, int count);

/* Local. */
void linkmap_map_free(struct linkmap_map *map);
