/*
 * What rounds say of how much work fits, robustly: see overlap/engine/measure.h for the method.
 *
 * All functions are local.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_ESTIMATE_H
#define COMMCOST_OVERLAP_ENGINE_ESTIMATE_H

#include "common/sampling/samples.h"

/* What a rank keeps of a round, in ns: what follows from a difference of two of its times is formed
   here, before any maximum over ranks. */
enum overlap_own_quantity {
    OVERLAP_OWN_REFERENCE, /* start and finish */
    OVERLAP_OWN_BESIDE,    /* start and finish around work that lasts longer, without the work */
    OVERLAP_OWN_INSIDE,    /* the time that this work took there */
    OVERLAP_OWN_ALONE,     /* ... and alone */
    OVERLAP_OWN_QUANTITIES
};

/* What is estimated: on a rank from its rounds; over ranks as the max of each. */
enum overlap_estimated {
    OVERLAP_EST_REFERENCE,       /* start and finish */
    OVERLAP_EST_TOTAL,           /* start, work and finish */
    OVERLAP_EST_EXPOSED,         /* start and finish, and what the library took from the work */
    OVERLAP_EST_ALONE,           /* the work alone */
    OVERLAP_EST_OTHER_REFERENCE, /* both by other quantiles: how far do they depend on that? */
    OVERLAP_EST_OTHER_EXPOSED,
    OVERLAP_ESTIMATED
};

struct overlap_estimate {
    double ns;
    double half_width_ns; /* of its interval, for reference, total and the work alone; NAN: too few
                             rounds */
};

/* Writes a rank's OVERLAP_ESTIMATED estimates from rounds `first` to `end` - 1 of its times: lower
   quartiles, which stops don't move as long as a quarter of the rounds are free of them. What the
   library took from the work is a small difference of two long times and has 5 % quantiles. The
   "other" estimates have them the other way round. Half-widths are at `confidence` (0 to 1). Ends
   the job without memory. */
void overlap_estimate_own(const struct bc_samples *own, size_t first, size_t end, double confidence,
                          struct overlap_estimate *estimates);

/* The work that fits: what is not exposed. */
static inline double overlap_knee_of(const struct overlap_estimate *estimates)
{
    return estimates[OVERLAP_EST_REFERENCE].ns - estimates[OVERLAP_EST_EXPOSED].ns;
}

/* By how much the work makes the operation longer. */
static inline double overlap_excess_of(const struct overlap_estimate *estimates)
{
    return estimates[OVERLAP_EST_TOTAL].ns - estimates[OVERLAP_EST_REFERENCE].ns;
}

#endif
