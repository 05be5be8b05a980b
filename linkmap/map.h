/*
 * What explains the times of all links of one size: how long one takes, two groups of points
 * between which it takes longer than within, and points all of whose links take longer.
 *
 * The time from point i to point j is expected to be the typical one, of their groups, plus what
 * the links out of i and the links into j take longer than those of other points. Each part is a
 * median over many links (as in Tukey's median polish, Exploratory Data Analysis, 1977, ch. 10), so
 * that a few slow links leave it alone. A map is the same on all points, and takes memory that
 * grows with their number, not its square.
 */
#ifndef COMMCOST_LINKMAP_MAP_H
#define COMMCOST_LINKMAP_MAP_H

#include "linkmap/links.h"

enum { LINKMAP_GROUPS_MAX = 2 };

/* From so many points on there is a majority to which a slow one can be compared. */
enum { LINKMAP_POINTS_MIN = 4 };

struct linkmap_map {
    int points;
    double typical_ns; /* the median over points of the median of their links */
    int groups;        /* 1, or 2 */
    int *group;        /* of each point: 0, or 1; the first point's is 0 */
    double expected_ns[LINKMAP_GROUPS_MAX][LINKMAP_GROUPS_MAX]; /* from group to group */
    double *more_ns[LINKMAP_WAYS];      /* what the links of each point take longer */
    double sigma_ns;                    /* of what isn't explained, of a link */
    double more_sigma_ns[LINKMAP_WAYS]; /* of more_ns */
};

/* Makes the map of all links timed so far. There are two groups only where each has a quarter of
   the points and at least two, and links within and between them differ by more than `threshold`
   (0.2: a fifth) of the least. Free it with linkmap_map_free. Collective over points->comm, which
   has LINKMAP_POINTS_MIN ranks or more. */
void linkmap_map_make(struct linkmap_map *map, const struct linkmap_links *links,
                      const struct linkmap_points *points, double threshold);

/* What a link takes by what is expected of its groups alone. Local. */
double linkmap_expected(const struct linkmap_map *map, int from, int to);

/* The same with what its points' links take longer. Local. */
double linkmap_explained(const struct linkmap_map *map, int from, int to);

/* Local. */
void linkmap_map_free(struct linkmap_map *map);

#endif
