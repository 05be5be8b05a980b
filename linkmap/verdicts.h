/*
 * Which points and links are slow: the map of all links makes them suspects, which are timed again,
 * one link alone at a time, in turn with links of no suspect (controls).
 *
 * A point or link is suspected if it takes longer than the map explains, by more than the threshold
 * and by more standard deviations than any point or link would reach with probability alpha if
 * residuals were normally distributed. A suspected link is slow if it is slow alone, too: against
 * the median of the controls between the same groups its median is longer by more than the
 * threshold, and its min by more than half of the threshold. A suspected point is slow if most of
 * its links are.
 */
#pragma once

#include "linkmap/map.h"

enum linkmap_fault {
    LINKMAP_UNKNOWN, /* suspected, and not timed again */
    LINKMAP_EVEN,
    LINKMAP_SLOW,     /* both ways; of a round trip at least one */
    LINKMAP_SLOW_OUT, /* the point as a sender, or the way from the first point of a pair */
    LINKMAP_SLOW_IN
};

/* How a fault is called in a result: NULL, even, slow, slow out, slow in. */
const char *linkmap_fault_name(enum linkmap_fault fault);

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
    struct linkmap_suspect *suspects; /* the same on all points: points, then links */
    int count;
    int left_out; /* suspected links beyond those */
    bool one_way; /* as in struct linkmap_links */
    /* By what share of the explained time a link must take longer to be suspected: the threshold,
       or more if the times of links vary that much. */
    double resolution;
};

struct linkmap_limits {
    double alpha, threshold; /* 0 to 1; 0.2: a fifth */
    double seconds;          /* about how long timing again may take */
};

/* Finds suspects and times them again, until a signal arrives. Free with linkmap_verdicts_free.
   Collective over points->comm. */
void linkmap_judge(struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                   const struct linkmap_links *links, const struct linkmap_points *points,
                   const struct linkmap_limits *limits);

/* The fault of a point (from == to) or of the links between two points (from < to). Sets
 *alone_pct to the suspect's, that of the slower way; NAN if none was suspected. Local. */
enum linkmap_fault linkmap_fault_of(const struct linkmap_verdicts *verdicts, int from, int to,
                                    double *alone_pct);

/* Sets a pair of points (from < to) to the next pair with a slow link, in the order of `from` and
   `to`. False if there is none. Local; the time grows with the number of suspects. */
bool linkmap_next_slow(const struct linkmap_verdicts *verdicts, int *from, int *to);

/* Local. */
void linkmap_verdicts_free(struct linkmap_verdicts *verdicts);
