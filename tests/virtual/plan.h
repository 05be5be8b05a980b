/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When an operation completes: the model's arithmetic.
 *
 * An operation of duration D, of which the fraction f proceeds without the host, starts at s: when
 * it is posted, or once the ranks that it depends on have posted theirs. Its post takes o of the
 * processor. A wait called at t ends its part without the host at a = max(t, s + f D + late), then
 * takes (1 - f) D of the processor, and then w. A wait for several operations takes the latest a,
 * then all host parts, then all w's. So the true overlap is max(0, f D - o) / (D + w), and the true
 * host overhead of an operation that is covered by work is o + (1 - f) D + w. MODEL_TAKEN_US is
 * added to the first work under an operation, and taken off the overlap.
 *
 * A test called at t takes MODEL_TEST_US, and decides at its end: once the part without the host
 * has ended it continues as a wait, else the operation is not complete.
 *
 * The part without the host may need calls to continue, as in a library that makes progress inside
 * calls only. It is then cut into stages of MODEL_PROGRESS_SHARE f D or MODEL_PROGRESS_US. The
 * first starts at s; a test starts the next one when it decides, if the one before has ended; a
 * wait continues without gaps.
 *
 * Messages and one-sided operations of a rank start at least g after the one before in the same
 * direction. Received messages are kept apart likewise, in the order in which they start, of those
 * that one wait or test has.
 */
#ifndef VIRTUAL_PLAN_H
#define VIRTUAL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define PLAN_UNKNOWN INT64_MAX /* a time that depends on what other ranks haven't done yet */

enum plan_kind {
    PLAN_COLLECTIVE,    /* non-blocking and persistent ones */
    PLAN_BLOCKING,      /* blocking collectives */
    PLAN_NEIGHBOURHOOD, /* blocking neighbourhood ones */
    PLAN_BARRIER,
    PLAN_SEND,
    PLAN_RECEIVE,
    PLAN_BLOCKING_SEND,
    PLAN_BLOCKING_RECEIVE,
    PLAN_ONE_SIDED,
    PLAN_SYNCHRONISATION /* one-sided; has no part without the host */
};

struct plan {
    int64_t stage_ns;     /* duration of a stage but the last */
    int64_t stage_end_ns; /* of the stage that started last; PLAN_UNKNOWN before s is known */
    int64_t left_ns;      /* duration of the stages that haven't started */
    int64_t late_ns;      /* delays the last stage */
    double host_ns;       /* (1 - f) D */
};

/* D of an undisturbed operation, and the number by which its durations are longer in this launch.
 */
double plan_duration_ns(enum plan_kind kind, int64_t bytes);
double plan_fraction(enum plan_kind kind);

/* How many times longer an operation's messages take, where it goes by messages (algorithms.h): the
   launch's spread and the jitter of the operation of this number. Its plan has no duration. */
double plan_factor(uint64_t number);

/* Plans an operation that begins now. `number` is the operation's own: with the seed it decides
   whether it is late. Its duration is multiplied by `longer`. */
void plan_make(struct plan *plan, enum plan_kind kind, int64_t bytes, uint64_t number,
               double longer);

/* Sets when it starts, once that is known. */
void plan_start(struct plan *plan, int64_t start_ns);

/* The next start, not before at_ns, of those that `last_ns` keeps apart by g. */
int64_t plan_after_gap(int64_t *last_ns, int64_t at_ns);

/* A test decides at at_ns: whether the part without the host has ended. */
bool plan_test(struct plan *plan, int64_t at_ns);

/* When the part without the host ends for a wait called at call_ns. */
int64_t plan_end_ns(const struct plan *plan, int64_t call_ns);

#endif
