/*
 * The timed regions of the overlap suite, and the rounds that take them in turn. These few lines
 * are the claim: nothing but the operation, and the work where there is some, lies between two
 * readings of the clock.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_KERNEL_H
#define COMMCOST_OVERLAP_ENGINE_KERNEL_H

#include "common/clock/shared/start_window.h"
#include "overlap/engine/operation.h"

#include <stdbool.h>
#include <stdint.h>

/* The quantities of a round. */
enum overlap_quantity {
    OVERLAP_REFERENCE, /* post and wait */
    OVERLAP_TOTAL,     /* post, work, wait */
    OVERLAP_WORK,      /* the work alone */
    OVERLAP_QUANTITIES
};

struct overlap_round {
    struct overlap_operation *operation;
    struct bc_start_window *window; /* starts the ranks; NULL: a barrier does */
    bool check;                     /* verify every operation's data, outside the timing */
    uint64_t units;                 /* of work */
    int64_t wrong;                  /* operations with wrong data, on this rank */
};

/* `take` of a source (struct bc_source) whose context is a struct overlap_round: the reference time
   alone, the total alone (as quantity 0), or all three quantities. */
void overlap_take_reference(void *context, double *values);
void overlap_take_total(void *context, double *values);
void overlap_take_round(void *context, double *values);

#endif
