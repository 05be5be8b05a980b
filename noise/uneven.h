/*
 * Which ranks are stopped more often than the others, by stops of which length.
 *
 * What all ranks have in common is the background. The half of the ranks that are stopped for the
 * shortest time stand for it. A rank has a source of its own where, in some classes of length, its
 * stops are more than theirs: surely, by what visits say, and by enough to matter. All functions
 * are local.
 */
#ifndef COMMCOST_NOISE_UNEVEN_H
#define COMMCOST_NOISE_UNEVEN_H

#include "common/stats/stats.h"

#include <stdint.h>

/* Classes of stops by length: class k from 2^k ns to below 2^(k + 1) ns. */
enum { NOISE_CLASSES = 40 };

int noise_class_of(int64_t length_ns);

/* The stops of one class in a visit, or a part of one, for each second that was watched. */
struct noise_rate {
    double per_s;
    double stopped_ns_per_s;
};

/* Rows that a visit has, one after the other: parts of its time. */
enum { NOISE_PARTS = 4 };

/* What parts of visits say of all ranks: [(rank * rows + row) * NOISE_CLASSES + class]. The parts
   tell whether rare stops are more than others'; but a visit's parts share what the machine did
   meanwhile, so that visits must tell, too, and intervals are over visits. */
struct noise_rates {
    const struct noise_rate *rates;     /* of stops in which the rank found no period */
    const struct noise_rate *all_rates; /* of all stops; NULL: the same. A rank must have more of
                                           these, too: a clock that all ranks have is none of those
                                           in which one of them missed it */
    int ranks, rows;                    /* rows: NOISE_PARTS times the visits */
};

struct noise_limits {
    double alpha;         /* the chance that anything is named where all ranks are alike */
    double threshold_pct; /* min share of a rank's time that a source must take */
    double confidence;    /* of intervals */
};

/* A rank's stops beyond the background's, of classes that follow one another. */
struct noise_uneven {
    int rank;
    int first_class, last_class;
    struct bc_summary per_s;       /* over visits */
    struct bc_summary length_ns;   /* their mean length, over visits */
    struct bc_summary stopped_pct; /* of the rank's time, over visits */
};

/* Fewer visits hardly tell whether they differ by chance. */
enum { NOISE_VISITS_MIN = 4 };

/* Finds the sources of single ranks, by rank; returns their number and, in *found, their list,
   which the caller frees. Needs 2 ranks to find any; of fewer than NOISE_VISITS_MIN visits the
   parts decide alone. Without memory the job ends. */
int noise_uneven_find(const struct noise_rates *rates, const struct noise_limits *limits,
                      struct noise_uneven **found);

#endif
