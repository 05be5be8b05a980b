/*
 * Which ranks are stopped more often than the others, and by stops of which length.
 *
 * The background is what all ranks have in common: the mean of the half of the ranks that are
 * interrupted for the shortest time. A rank has a source of its own where, in some classes of
 * length, it has more stops than the background: significantly over visits, and by enough to
 * matter. All functions are local.
 */
#pragma once

#include "noise/rank_stops.h"

/* Classes of stops by length: class k from 2^k ns to below 2^(k + 1) ns. */
enum { NOISE_CLASSES = 40 };

int noise_class_of(int64_t length_ns);

/* The stops of a class, for each second in which the rank was watched. */
struct noise_rate {
    double per_s;
    double stopped_ns_per_s;
};

/* Adds `share` times a rate. */
void noise_rate_add(struct noise_rate *sum, const struct noise_rate *rate, double share);

/* A visit has this many rows, one after the other: parts of its time. */
enum { NOISE_PARTS = 4 };

/* The rates of all ranks: [(rank * rows + row) * NOISE_CLASSES + class]. Parts of visits show
   whether rare stops are more than those of others. But the parts of a visit share the state of the
   machine, so visits must show it, too, and intervals are over visits. */
struct noise_rates {
    const struct noise_rate *no_period; /* stops in which the rank found no period */
    const struct noise_rate *all;       /* all stops. A rank must have more of these, too: otherwise
                                           it only missed a clock that other ranks found */
    int ranks, rows;                    /* rows: NOISE_PARTS for each visit */
};

struct noise_limits {
    double alpha;         /* probability that anything is named where all ranks are alike */
    double threshold_pct; /* min share of a rank's time that a source takes */
    double confidence;    /* of intervals */
};

/* A rank's stops beyond the background, of classes that follow one another. */
struct noise_uneven {
    int rank;
    int first_class, last_class;
    struct noise_amount amount;
};

/* With fewer visits than this the parts decide alone. */
enum { NOISE_VISITS_MIN = 4 };

/* Finds the sources of single ranks, by rank; returns their number and, in *found, their list,
   which the caller frees. Needs 2 ranks to find any. Without memory the job ends. */
int noise_uneven_find(const struct noise_rates *rates, const struct noise_limits *limits,
                      struct noise_uneven **found);
