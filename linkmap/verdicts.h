/*
 * Which points and links are out of line: suspected by the map of all links, and timed again, one
 * link alone at a time, beside links that nobody suspects.
 *
 * A point or link is suspected if it takes longer than what explains it by more than the threshold,
 * and by so much that, if what isn't explained were normally distributed, the chance that any of
 * all points and links does would be alpha. That alone would name links for what went on beside
 * them in the tournament, so what is named must also be slow alone: the median of its times by more
 * than the threshold, and each of them by more than half of it, than those of other links that are
 * timed in turn with it.
 */
#ifndef COMMCOST_LINKMAP_VERDICTS_H
#define COMMCOST_LINKMAP_VERDICTS_H

#include "linkmap/map.h"

/* What is out of line. */
enum linkmap_fault {
    LINKMAP_EVEN,
    LINKMAP_SLOW,     /* both ways, or, where round trips are timed, in all */
    LINKMAP_SLOW_OUT, /* what the point sends, or what goes from the first point of a pair */
    LINKMAP_SLOW_IN
};

/* How it is called in a result: even, slow, slow out, slow in. */
const char *linkmap_fault_name(enum linkmap_fault fault);

/* A point or a link that was suspected. */
struct linkmap_suspect {
    int from, to;     /* of a link; of a point both are the point */
    int way;          /* of a point: enum linkmap_way; of a link LINKMAP_OUT */
    double more_ns;   /* than explains it */
    double alone_pct; /* by how much longer than other links it takes alone, in percent */
    int named;        /* whether that is out of line; 0 or 1 */
};

struct linkmap_verdicts {
    struct linkmap_suspect *suspects; /* on all points alike; points, then links */
    int count;
    int left_out; /* suspected links that weren't timed again, since there were too many */
    bool one_way; /* each way was timed by itself */
};

/* What is asked of a verdict; see above. 0 to 1, both. */
struct linkmap_limits {
    double alpha, threshold;
};

/* Suspects, and times again. Takes some milliseconds a suspect and message of a millisecond.
   Free with linkmap_verdicts_free. Collective over points->comm. */
void linkmap_judge(struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                   const struct linkmap_links *links, const struct linkmap_points *points,
                   const struct linkmap_limits *limits);

/* What is out of line with a point, or with the links between two points; and by how much more, in
   percent, of the way that is slowest (NAN: not suspected). Local. */
enum linkmap_fault linkmap_fault_of_point(const struct linkmap_verdicts *verdicts, int point,
                                          double *alone_pct);
enum linkmap_fault linkmap_fault_of_link(const struct linkmap_verdicts *verdicts, int from, int to,
                                         double *alone_pct);

/* Local. */
void linkmap_verdicts_free(struct linkmap_verdicts *verdicts);

#endif
