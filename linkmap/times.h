/*
 * What the visits of a size say of a point, of a link and of all of them: the times or bandwidths
 * of a result, with intervals over visits. Rank 0, which has the medians of all points.
 */
#ifndef COMMCOST_LINKMAP_TIMES_H
#define COMMCOST_LINKMAP_TIMES_H

#include "linkmap/state.h"

/* The place of a visit's medians of one way, by point, in `medians_ns`. */
double *linkmap_medians(const struct linkmap_row *row, int points, int visit, int way);

/* Each sets `time` or `ways` of the result, of the median of the point's links in each visit; of
   the median of these medians; of the link to row->to, among the row's fetched ones. Each is
   written to the file of --dump-samples, too. */
void linkmap_set_point_times(const struct linkmap *state, const struct linkmap_row *row, int point,
                             struct linkmap_result *result);
void linkmap_set_all_times(const struct linkmap *state, const struct linkmap_row *row,
                           struct linkmap_result *result);
void linkmap_set_link_times(const struct linkmap *state, const struct linkmap_row *row,
                            struct linkmap_result *result);

/* The point with the longest times, either way. */
int linkmap_slowest_point(const struct linkmap *state, const struct linkmap_row *row);

/* Whether the times of all points are as precise as --precision asks. */
bool linkmap_all_is_precise(const struct linkmap *state, const struct linkmap_row *row);

#endif
