/*
 * How one clock runs against another, from messages that carry their own time.
 *
 * Two ranks, `reference` and `other`, send each other small messages in turn,
 * each with the time at which it was sent; the receiver notes when it arrived.
 * Arrival less sending is an apparent delay: the message's own, plus what the
 * other clock is ahead (there) or less that (back):
 *
 *     there:  arrived (other) - sent (reference)  =  delay + ahead
 *     back:   arrived (reference) - sent (other)  =  delay - ahead
 *
 * Disturbances only add to a delay. So the points of apparent delay over time
 * have a lower edge that is the undisturbed delay and, where one clock runs
 * faster, a slope: opposite ones there and back. The line between two clocks is
 * the one that leaves the most room between both edges, and lies in its middle,
 * as the least delays are the same in both directions. It is found so from all
 * exchanges together, whatever disturbed some of them, and then more closely by the
 * medians of those that were as quick as the quickest; means are never taken.
 *
 * Sources: four stamps, the least of the delays of each direction: Mills, RFC 5905
 * (NTP), there for one exchange; lower edges over time for clocks that drift:
 * Paxson, "On Calibrating Measurements of Packet Transit Times", SIGMETRICS 1998;
 * Moon, Skelly and Towsley, "Estimation and Removal of Clock Skew from Network
 * Delay Measurements", INFOCOM 1999; edges of both directions together: Duda,
 * Harrus, Haddad and Bernard, "Estimating Global Time in Distributed Systems",
 * ICDCS 1987; the drift as the median of slopes: Theil (1950) and Sen, "Estimates of
 * the Regression Coefficient Based on Kendall's Tau", JASA 63 (1968); few round trips
 * instead of many: Hoefler, Schneider and Lumsdaine,
 * "Accurately Measuring Overhead, Communication Time and Progression of Blocking
 * and Nonblocking Collective Operations at Massive Scale", IJPEDS 25 (2010).
 *
 * All functions are local and do nothing else; times are nanoseconds.
 */
#ifndef COMMCOST_COMMON_CLOCK_SHARED_CLOCK_MODEL_H
#define COMMCOST_COMMON_CLOCK_SHARED_CLOCK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No clock of a computer runs off by more than this share of the time. */
#define BC_DRIFT_MAX 1e-3

/* A message: when it was sent, by the sender's clock, and when it arrived, by the
   receiver's. */
struct bc_passage {
    int64_t sent_ns, arrived_ns;
};

/* The passages of one direction that its lower edge consists of. */
#define BC_EDGE_MAX 24
struct bc_edge {
    int64_t count;
    struct bc_passage passages[BC_EDGE_MAX];
};

/* The lower edge of messages in the order in which they were sent: the corners of
   their lower convex hull at which a line with a clock's slope can rest. Of more than
   BC_EDGE_MAX corners those are taken that are nearest to the least delay. Works in
   place on `passages`. */
void bc_edge_find(struct bc_passage *passages, size_t count, struct bc_edge *edge);

/* Messages that were exchanged within a short time. */
struct bc_exchange {
    struct bc_edge there, back; /* neither is empty */
};

/* From one clock's time to another's: other_ns is `ahead_ns` + `more_ns` more
   than the reference's at other_ns = `at_ns`, and `drift` a nanosecond more from
   there on. */
struct bc_clock_model {
    int64_t at_ns; /* on the other clock */
    int64_t ahead_ns;
    double more_ns;
    double drift;
};

/* How well a line is known. */
struct bc_line_quality {
    double room_ns;  /* between the edges: a round trip's least time */
    double error_ns; /* what it is off by at the newest exchange, to go by how far those
                        that are about as good as the best lie from it, and how long
                        ago that was */
    double growth;   /* ... and by how much more for each nanosecond from there on */
    double bound_ns; /* what it is off by at the newest exchange at most, even if
                        messages took no time at all one way */
};

/* The line of so many exchanges, 1 to BC_EXCHANGES_MAX, in the order in which they
   were made. */
#define BC_EXCHANGES_MAX 96
struct bc_clock_model bc_clock_model_fit(const struct bc_exchange *exchanges, size_t count,
                                         struct bc_line_quality *quality);

/* How many of the newest exchanges lie on one line: less than all if the clocks'
   rates changed in the meantime. At least the newest `least` (at least 1). */
size_t bc_clock_model_straight(const struct bc_exchange *exchanges, size_t count, size_t least);

/* False if some message would have arrived before it was sent if both clocks were
   one. */
bool bc_may_be_one_clock(const struct bc_exchange *exchanges, size_t count);

/* The reference's time when the other clock shows other_ns, and what the latter shows
   at the former's. */
int64_t bc_clock_model_reference(const struct bc_clock_model *line, int64_t other_ns);
int64_t bc_clock_model_other(const struct bc_clock_model *line, int64_t reference_ns);

/* The line from `far`'s reference to `near`'s other clock, where near's reference is
   far's other clock. */
struct bc_clock_model bc_clock_model_chain(const struct bc_clock_model *far,
                                           const struct bc_clock_model *near);

#endif
