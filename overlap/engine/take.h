/*
 * One time of a round: new buffers and other data before the operation (--buffers=new, --check),
 * the release of all ranks at once, the timed region on the host or with the device (kernel.h,
 * kernel_device.h), and the data check after it.
 */
#pragma once

#include "common/measure/rounds.h"
#include "common/operations/operation.h"
#include "overlap/engine/work.h"

/* The operation, the work under it, and how this rank times both. */
struct overlap_experiment {
    struct op_instance *operation;
    struct op_instance *staged;   /* the same in pinned memory; NULL: not timed */
    struct overlap_worker worker; /* does the work; zeros: the processor */
    bool check;                   /* verify every operation's data, outside the timing */
    bool renews;                  /* each operation has buffers that were allocated before it */
    double clock_ns;              /* the cost of a reading on this rank */
    int64_t parts;                /* of all work; the operation's `between` is between two */
    double kernel_ns;             /* of the last kernel alone, if a device works */
    int64_t wrong;                /* operations with wrong data, on this rank */
};

/* The functions below time one operation, or work alone. Each returns this rank's time in ns with
   the cost of one reading of the clock, which rounds subtract (-INFINITY: the rank doesn't work),
   and notes its start as that of a quantity of the round. Without a round (NULL) ranks are released
   by a barrier, and times aren't on the shared clock. Collective. */

/* The operation without work. */
double overlap_take_reference(struct overlap_experiment *x, const struct bc_round *round,
                              int quantity);

/* The operation with work. */
double overlap_take_total(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                          uint64_t part_units);

/* The blocking and the staged counterpart; if a device works, of as many steps as the last kernel
   alone. */
double overlap_take_blocking(struct overlap_experiment *x, const struct bc_round *round,
                             int quantity, uint64_t steps);
double overlap_take_staged(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                           uint64_t steps);

/* The work alone. */
double overlap_take_work(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                         uint64_t part_units);

/* Work alone, and then an operation with the same work, in ns, less the cost of readings. */
struct overlap_with_work {
    double alone_ns, inside_ns; /* the work */
    double beside_ns;           /* the operation without it, with one reading */
    double exposed_ns;          /* what the operation adds to the work, with one reading */
};
struct overlap_with_work overlap_take_with_work(struct overlap_experiment *x,
                                                const struct bc_round *round, int quantity,
                                                uint64_t part_units);

/* Runs the check of the operation's kind, if it has one: once a round, after its times. Collective.
 */
void overlap_check_round(struct overlap_experiment *x);
