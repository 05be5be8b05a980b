/*
 * Row by row: by how much did it change, and is that more than chance?
 *
 * A change is the Hodges-Lehmann estimate over launches: of the ratio where all values are above 0,
 * else of the difference over the base's median. It is significant by the exact rank-sum test,
 * corrected by Holm for all rows of the call (run_scripts/bench_compare/rank_test.h). What is in
 * percent (overlap_pct) changes by points: from 10 to 12 % is 2, not 20.
 */
#ifndef COMMCOST_BENCH_COMPARE_COMPARE_H
#define COMMCOST_BENCH_COMPARE_COMPARE_H

#include "run_scripts/bench_compare/results.h"

#include "common/stats/stats.h"

enum verdict {
    SLOWER, /* or less of what there should be more of */
    FASTER,
    SAME, /* the change's whole interval is within the threshold */
    CANT_TELL,
    FAILED,  /* a new launch's status is FAIL */
    MISSING, /* the base has values, the new side has none */
    ADDED,   /* the other way round */
    VERDICTS
};

extern const char *const verdict_names[VERDICTS];

struct limits {
    double alpha;         /* chance of a false slower or faster in a call, 0 to 1 */
    double threshold_pct; /* what is less doesn't matter */
    double confidence;    /* of the intervals, 0 to 1 */
};

struct change {
    const struct series *series;
    double base, new;            /* medians; NAN: none */
    bool points;                 /* the change is in points, not in percent of the base */
    double change_pct;           /* NAN where there are no values on a side, or the base is 0 */
    struct bc_interval interval; /* NAN, NAN where there are too few launches */
    double p;                    /* NAN: not tested */
    double corrected_p;
    enum verdict verdict;
};

struct comparison {
    struct change *changes; /* rows without a value on either side are left out */
    size_t count;
    size_t tested;
    size_t verdicts[VERDICTS];       /* how many rows have each */
    size_t hopeless;                 /* rows with too few launches for any significant change */
    size_t hopeless_launches[SIDES]; /* of one of these */
    size_t enough_launches; /* a side, that would do for so many rows; 0: more than there can be */
};

/* Compares the results, which must stay as long as the comparison; free `changes`. */
void compare(struct comparison *comparison, const struct results *results,
             const struct limits *limits);

#endif
