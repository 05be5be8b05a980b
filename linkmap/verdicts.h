/*
 * Which points and links are out of line: suspected by the map of all links, and timed again, one
 * link alone at a time, beside links that nobody suspects.
 *
 * A point or link is suspected if it takes longer than what explains it by more than the threshold,
 * and by more standard deviations than any of all points and links would with probability alpha,
 * were residuals normally distributed. What is named must be slow alone, too: the median of
 * its times by more than the threshold, and each of them by more than half of it, than the median
 * of links between the same groups that are timed in the same turns; of a point's links most must
 * be.
 */
#ifndef COMMCOST_LINKMAP_VERDICTS_H
#define COMMCOST_LINKMAP_VERDICTS_H

#include "linkmap/map.h"

enum linkmap_fault {
    LINKMAP_UNKNOWN, /* suspected, and not timed again */
    LINKMAP_EVEN,
    LINKMAP_SLOW,     /* both ways, or, where round trips are timed, in all */
    LINKMAP_SLOW_OUT, /* what the point sends, or what goes from the first point of a pair */
    LINKMAP_SLOW_IN
};

/* How it is called in a result: NULL, even, slow, slow out, slow in. */
const char *linkmap_fault_name(enum linkmap_fault fault);

/* A point or a link that was suspected. */
struct linkmap_suspect {
    int from, to;     /* of a link; of a point both are the point */
    int way;          /* of a point: enum linkmap_way; of a link LINKMAP_OUT */
    int timed;        /* whether it was timed again; 0 or 1 */
    int named;        /* whether it is out of line; 0 or 1 */
    double more_ns;   /* what it takes longer than explains it */
    double alone_pct; /* by how much longer than other links it takes alone, in percent */
};

struct linkmap_verdicts {
    struct linkmap_suspect *suspects; /* on all points alike: points, then links */
    int count;
    int left_out; /* more links that were suspected */
    bool one_way; /* each way was timed by itself */
    /* By what share of what explains it a link must take longer to be suspected: the threshold, or
       what links vary by if that is more. */
    double resolution;
};

struct linkmap_limits {
    double alpha, threshold; /* 0 to 1; 0.2: a fifth */
    double seconds;          /* that timing again may take, about */
};

/* Suspects, and times again; a signal ends that. Free with linkmap_verdicts_free. Collective over
   points->comm. */
void linkmap_judge(struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                   const struct linkmap_links *links, const struct linkmap_points *points,
                   const struct linkmap_limits *limits);

/* What is out of line with a point, or with the links between two points (from < to), and by how
   much more alone, in percent, of the way that is slower (NAN: not suspected). Local. */
enum linkmap_fault linkmap_fault_of_point(const struct linkmap_verdicts *verdicts, int point,
                                          double *alone_pct);
enum linkmap_fault linkmap_fault_of_link(const struct linkmap_verdicts *verdicts, int from, int to,
                                         double *alone_pct);

/* Sets a pair of points (from < to) to the next one, by from and to, whose link is out of line.
   False if there is none. Takes time by the number of suspects. Local. */
bool linkmap_next_named(const struct linkmap_verdicts *verdicts, int *from, int *to);

/* Local. */
void linkmap_verdicts_free(struct linkmap_verdicts *verdicts);

#endif
