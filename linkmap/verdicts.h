/*
 * What explains the times of the links of one message size (map.c), and which points and links are
 * slow (verdicts.c).
 */
#pragma once

#include "common/stats/stats.h"
#include "linkmap/links.h"

/* Min points for verdicts: among fewer there is no majority to which a slow one compares. */
enum { LINKMAP_POINTS_MIN = 4 };

/* The deviation of links from a few points is uncertain. With fewer points than this the rules for
   this number apply: chance makes more of them suspected, and timing them again clears these. */
enum { LINKMAP_POINTS_FOR_SIGMA = 8 };

/* The usual time of a link, the effects of single points, and two groups of points, if links
   between them take another time than within. It is the same on all points, except the point's own
   times; its memory grows with the number of points, not with its square. */
enum { LINKMAP_GROUPS_MAX = 2 };
struct linkmap_map {
    const struct linkmap_links *links;
    MPI_Comm comm;
    int count, own;                 /* the number of points, and this one's number */
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
   link explains that. Collective over points->comm. */
void linkmap_map_make(struct linkmap_map *map, const struct linkmap_links *links, double threshold);
void linkmap_map_free(struct linkmap_map *map);

/* Returns the time of a link that its groups alone explain, and the min and max of all groups.
 * Local. */
double linkmap_expected(const struct linkmap_map *map, int from, int to);
struct bc_interval linkmap_expected_range(const struct linkmap_map *map);

/* Returns that time with the effects of the link's points. Local. */
double linkmap_explained(const struct linkmap_map *map, int from, int to);

/* Returns the median of the values that are numbers; NAN if none is. Local. */
double linkmap_median(const double *values, int count);

enum linkmap_fault {
    LINKMAP_UNKNOWN, /* suspected, and not timed again */
    LINKMAP_EVEN,
    LINKMAP_SLOW,     /* both ways; of a round trip at least one */
    LINKMAP_SLOW_OUT, /* the point as a sender, or the way from the first point of a pair */
    LINKMAP_SLOW_IN
};

/* How a fault is called in a result; NULL: unknown. */
extern const char *const linkmap_fault_names[];

/* A suspected point or link. */
struct linkmap_suspect {
    int from, to;     /* of a link; of a point both are the point */
    int way;          /* of a point: enum linkmap_way; of a link LINKMAP_OUT */
    int timed;        /* whether it was timed again; 0 or 1 */
    int slow;         /* whether it was slow again; 0 or 1 */
    double more_ns;   /* by how much it takes longer than the map explains */
    double alone_pct; /* by how much longer it takes than controls, in percent */
};

struct linkmap_verdicts {
    struct linkmap_map map;
    struct linkmap_suspect *suspects; /* the same on all points: points, then links */
    int count;
    int left_out; /* suspected links beyond those */
    /* By what share of the explained time a link must take longer to be suspected: the threshold,
       or more if the times of links vary that much. */
    double resolution;
};

struct linkmap_limits {
    double alpha, threshold; /* 0 to 1; 0.2: a fifth */
    double seconds;          /* about how long timing again may take */
};

/* Makes the map, finds suspects and times them again, until a signal arrives. Free with
   linkmap_verdicts_free. Collective over points->comm, which has LINKMAP_POINTS_MIN ranks or more.
   */
void linkmap_judge(struct linkmap_verdicts *verdicts, const struct linkmap_links *links,
                   const struct linkmap_limits *limits);

/* Returns the fault of a point (from == to) or of the links between two points (from < to). Sets
 *alone_pct to the suspect's, that of the slower way; NAN if none was suspected. Local. */
enum linkmap_fault linkmap_fault_of(const struct linkmap_verdicts *verdicts, int from, int to,
                                    double *alone_pct);

/* Sets a pair of points (from < to) to the next pair with a slow link, in the order of `from` and
   `to`. False if there is none. Local; the time grows with the number of suspects. */
bool linkmap_next_slow(const struct linkmap_verdicts *verdicts, int *from, int *to);

void linkmap_verdicts_free(struct linkmap_verdicts *verdicts);
