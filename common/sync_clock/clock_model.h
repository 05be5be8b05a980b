/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of one clock against another, fitted to the timestamps of messages between them.
 *
 * Two ranks, `reference` and `other`, alternately send each other small messages. Each message
 * carries the time at which it was sent, and the receiver notes the time at which it arrived.
 * Arrival minus sending is an apparent delay: the message's own delay, plus the lead of the other
 * clock (there), or minus that (back):
 *
 *     there:  arrived (other) - sent (reference)  =  delay + ahead
 *     back:   arrived (reference) - sent (other)  =  delay - ahead
 *
 * Disturbances only make a delay longer. So the apparent delays over time have a lower hull, which
 * is the undisturbed delay, with opposite slopes there and back if one clock runs faster. For a
 * drift, a line with that slope supports each hull from below; the sum of both lines' heights is
 * the undisturbed round trip. The model is the drift for which the round trip is longest, and an
 * offset halfway between both lines, as the minimum delays of both directions are equal. It is
 * found from all exchanges together, whatever disturbed some of them, and then refined with medians
 * over the exchanges whose round trips were about as short as the shortest. Nothing is averaged.
 *
 * Sources: four timestamps and the minimum delay of each direction: Mills, RFC 5905 (NTP), there
 * for one exchange; lower hulls over time for clocks that drift: Paxson, "On Calibrating
 * Measurements of Packet Transit Times", SIGMETRICS 1998; Moon, Skelly and Towsley, "Estimation and
 * Removal of Clock Skew from Network Delay Measurements", INFOCOM 1999; hulls of both directions
 * together: Duda, Harrus, Haddad and Bernard, "Estimating Global Time in Distributed Systems",
 * ICDCS 1987; the drift as the median of slopes: Theil (1950) and Sen, "Estimates of the Regression
 * Coefficient Based on Kendall's Tau", JASA 63 (1968); few round trips instead of many: Hoefler,
 * Schneider and Lumsdaine, "Accurately Measuring Overhead, Communication Time and Progression of
 * Blocking and Nonblocking Collective Operations at Massive Scale", IJPEDS 25 (2010).
 *
 * All functions are local. Times are nanoseconds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No clock of a computer drifts by more than this share of the time. */
#define BC_DRIFT_MAX 1e-3

/* The max difference of the rates of two unknown clocks, and the change of a clock's rate, for
   instance with the temperature. */
#define BC_RATE_DIFFERENCE 1e-4
#define BC_RATE_CHANGE 1e-8

/* The timestamps of a message: sent by the sender's clock, arrived by the receiver's. */
struct bc_timestamps {
    int64_t sent_ns, arrived_ns;
};

/* The vertices of the lower hull of one direction's delays. */
#define BC_HULL_MAX 24
struct bc_hull {
    int64_t count;
    struct bc_timestamps timestamps[BC_HULL_MAX];
};

/* Finds the lower convex hull of messages in the order in which they were sent: the vertices on
   which a line can rest whose slope is a possible drift. Of more than BC_HULL_MAX vertices it keeps
   those nearest to the minimum delay. Works in place on `timestamps`. */
void bc_hull_find(struct bc_timestamps *timestamps, size_t count, struct bc_hull *hull);

/* Messages that were exchanged within a short time. */
struct bc_exchange {
    struct bc_hull there, back; /* neither is empty */
};

/* One clock against another: when the other clock shows at_ns, it is ahead_ns + more_ns ahead of
   the reference, and from then on it gains `drift` nanoseconds per nanosecond. */
struct bc_clock_model {
    int64_t at_ns;
    int64_t ahead_ns;
    double more_ns; /* small, so that a double holds it exactly enough */
    double drift;
};

struct bc_clock_model_quality {
    /* Estimated error at the newest exchange: the distance from the model of the exchanges with
       about the shortest round trips, plus the growth since the newest of these. */
    double error_ns;
    double growth; /* of that error, per nanosecond */
};

/* Returns the model of `count` exchanges, 1 to BC_EXCHANGES_MAX, in ascending order of time. */
#define BC_EXCHANGES_MAX 96
struct bc_clock_model bc_clock_model_fit(const struct bc_exchange *exchanges, size_t count,
                                         struct bc_clock_model_quality *quality);

/* The maximum error of a model, even if messages took no time one way. Clocks with constant rates
   run apart along a line: so between two moments the error lies within the line between the maxima
   at these moments, and outside within its continuation. */
struct bc_clock_bound {
    int64_t first_ns, last_ns; /* the oldest and the newest exchange, on the other clock */
    double first_error_ns, last_error_ns; /* maximum error there */
    double between; /* its growth per nanosecond of distance from the nearer exchange */
    double outside; /* its growth before the first and after the last exchange */
};

/* Returns the bound by exchanges with messages in both directions, if the rates of the clocks
   differ from the model by at most `rate`; 0: the model's rate is right. */
struct bc_clock_bound bc_clock_model_bound(const struct bc_exchange *exchanges, size_t count,
                                           const struct bc_clock_model *model, double rate);

/* Returns the maximum error when the other clock shows other_ns. */
double bc_clock_bound_ns(const struct bc_clock_bound *bound, int64_t other_ns);

/* Returns the number of newest exchanges that one model fits: fewer than `count` if the clocks'
   rates have changed meanwhile, but at least `min`, which is at least 1. */
size_t bc_clock_model_consistent(const struct bc_exchange *exchanges, size_t count, size_t min);

/* Returns false if a message would have arrived before it was sent if both clocks were one. */
bool bc_may_be_one_clock(const struct bc_exchange *exchanges, size_t count);

/* Return the reference's time when the other clock shows other_ns, and the other clock's time when
   the reference shows reference_ns. */
int64_t bc_clock_model_reference(const struct bc_clock_model *model, int64_t other_ns);
int64_t bc_clock_model_other(const struct bc_clock_model *model, int64_t reference_ns);

/* Returns the model from the reference of `far` to the other clock of `near`, where the reference
   of `near` is the other clock of `far`. */
struct bc_clock_model bc_clock_model_chain(const struct bc_clock_model *far,
                                           const struct bc_clock_model *near);
