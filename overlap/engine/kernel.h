/*
 * The timed regions, and the rounds that are made of them: what is measured in turn, so that
 * whatever drifts affects all of it alike.
 */
#pragma once

#include "common/measure/plan.h"
#include "common/sync_clock/start_window.h"
#include "common/operations/operation.h"
#include "overlap/engine/work.h"

#include <stdbool.h>
#include <stdint.h>

/* The quantities of a round, as the sampler has them: of the slowest rank, in ns.

   Where a device works, the host starts the kernel behind the operation's start, finishes the
   operation, and waits for the kernel; the reference does so with an empty kernel. Work is the
   kernel alone, by the device's events. The blocking and the staged counterpart are followed by the
   same kernel as the exposed time's, which is taken off. So starting and awaiting a kernel is in
   all times but that of work. */
enum overlap_quantity {
    OVERLAP_REFERENCE, /* start and finish */
    OVERLAP_BESIDE,    /* start and finish around more work than fits, without the work */
    OVERLAP_BLOCKING,  /* the blocking counterpart */
    OVERLAP_EXPOSED,   /* start, plenty of work, finish, less that work alone */
    OVERLAP_WORK,      /* OVERLAP_WORK + i: amount i of work alone */
    OVERLAP_TOTAL = OVERLAP_WORK + OVERLAP_AMOUNTS,   /* OVERLAP_TOTAL + i: start, amount i of
                                                         work, finish */
    OVERLAP_STAGED = OVERLAP_TOTAL + OVERLAP_AMOUNTS, /* of buffers on a device: a copy to pinned
                                                         memory, the blocking counterpart there, a
                                                         copy back; the last quantity, which other
                                                         rounds don't have */
    OVERLAP_QUANTITIES
};

struct overlap_round;

/* Takes a round's times of this rank; see below. Collective. */
typedef void overlap_take_fn(struct overlap_round *round, double *values);

struct overlap_round {
    struct op_instance *operation;
    struct op_instance *staged;     /* the same in pinned memory; NULL: not timed */
    struct overlap_worker worker;   /* does the work; zeros: the processor */
    struct bc_start_window *window; /* starts the ranks; NULL: a barrier does */
    bool check;                     /* verify every operation's data, outside the timing */
    bool renews;                    /* each operation has buffers that were allocated before it */
    double clock_ns;                /* what a reading costs on this rank */
    int64_t parts;                  /* of all work; the operation's `between` is between two */
    uint64_t part_units;            /* in each part of work that is more than fits, or on trial */
    uint64_t amount_part_units[OVERLAP_AMOUNTS]; /* in each part of each amount of work */
    uint64_t plenty_part_units;                  /* in each part of plenty of work */
    bool blocking;                               /* the blocking counterpart is timed, too */
    struct bc_samples *own;                      /* this rank's times: enum overlap_own_quantity */
    struct bc_samples *own_plenty;               /* the same with plenty of work */
    double inside_ns;      /* the work's time in the last operation that was timed in
                              parts, with the cost of reading the clock */
    double kernel_ns;      /* of the last kernel alone, where a device works */
    overlap_take_fn *take; /* set by overlap_run_rounds */
    int64_t wrong;         /* operations with wrong data, on this rank */
};

/* Ranks that don't work report -INFINITY, and keep no times that count. Quantity 0 alone: */
overlap_take_fn overlap_take_reference;    /* the reference time */
overlap_take_fn overlap_take_total;        /* the total with the work on trial */
overlap_take_fn overlap_take_plenty;       /* the exposed time; keeps `own_plenty`, with 0 for the
                                              blocking counterpart */
overlap_take_fn overlap_take_counterparts; /* nothing: uses the counterparts once, untimed */
/* OVERLAP_REFERENCE and OVERLAP_BESIDE; keeps `own`. All quantities; keeps both. */
overlap_take_fn overlap_take_trial;
overlap_take_fn overlap_take_round;

/* Runs rounds of `quantities` quantities and appends them to `samples`, on rank 0. Collective. */
void overlap_run_rounds(const struct bc_run *run, struct overlap_round *round, int quantities,
                        overlap_take_fn *take, const struct bc_plan *plan,
                        struct bc_samples *samples);
