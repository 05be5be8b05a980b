/*
 * What explains the times of all links of one size: how long one takes, two groups of points
 * between which it takes longer than within, and points all of whose links take longer.
 *
 * The time from point i to point j is expected to be the typical one, of their groups, plus the
 * effects of the links out of i and of the links into j. Each part is a median over many links, as
 * in Tukey's median polish (Exploratory Data Analysis, 1977, ch. 10), so that a few slow links
 * leave it alone. A map is the same on all points, and takes memory that grows with their number,
 * not its square.
 */
#ifndef COMMCOST_LINKMAP_MAP_H
#define COMMCOST_LINKMAP_MAP_H

#include "linkmap/links.h"

enum { LINKMAP_GROUPS_MAX = 2 };

/* Min points for verdicts: below that a slow one has no majority to differ from. */
enum { LINKMAP_POINTS_MIN = 4 };

/* As fewer points than this don't tell how much their links vary, they are taken to tell as much:
   chance makes more of them suspected, and what is named must be slow alone, too. */
enum { LINKMAP_POINTS_FOR_SIGMA = 8 };

struct linkmap_map {
    int points;
    int groups; /* 1, or 2 */
    int *group; /* of each point: 0, or 1; the first point's is 0 */
    double expected_ns[LINKMAP_GROUPS_MAX][LINKMAP_GROUPS_MAX]; /* from group to group */
    double *effect_ns[LINKMAP_WAYS];                            /* of each point's links */
    double sigma_ns;                                            /* of the residual of a link */
    double effect_sigma_ns[LINKMAP_WAYS];                       /* of effect_ns */
};

/* Makes the map of all links timed so far. There are two groups only where each has a quarter of
   the points and two or more, links within and between them differ by more than `threshold` (0.2: a
   fifth) of the min, and that isn't explained by a minority of points that are slow with all, or by
   one slow link. Free it with linkmap_map_free. Collective over points->comm, which has
   LINKMAP_POINTS_MIN ranks or more. */
void linkmap_map_make(struct linkmap_map *map, const struct linkmap_links *links,
                      const struct linkmap_points *points, double threshold);

/* What a link takes by its groups alone. Local. */
double linkmap_expected(const struct linkmap_map *map, int from, int to);

/* The same with the effects of its points. Local. */
double linkmap_explained(const struct linkmap_map *map, int from, int to);

/* Local. */
void linkmap_map_free(struct linkmap_map *map);

#endif
