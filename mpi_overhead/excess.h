/* How much longer one operation takes than another that takes about as long. Local. */
#pragma once

#include "common/sampling/samples.h"

/* The summary of what `quantity` takes longer than `subtrahend`, of two quantities that take about
   as long (work with a message and alone), as if ranks were never stopped: a visit says the
   difference of the two 5 % quantiles, which stops don't move as long as one round in 20 is free of
   them; the value is bc_mean_of_visits of these. Its interval also has in it, added as if it
   were independent of other errors, by how much quartiles say something else. Where times differ
   for other reasons than stops, the value is that of the quickest rounds. With one visit, or none,
   and for sd, p99 and max, as bc_samples_summarize with BC_MEDIAN. */
struct bc_summary overhead_excess(const struct bc_samples *samples, int quantity, int subtrahend,
                                  double confidence);
