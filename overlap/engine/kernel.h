/*
 * The timed regions, on each rank. Nothing but the operation, and the work if there is any, lies
 * between two readings of the clock. Ranks have been released just before (take.h).
 */
#pragma once

#include "common/measure/rounds.h"
#include "common/operations/operation.h"

/* An operation with work whose parts are timed, too. */
struct overlap_timed_work {
    struct bc_span span;
    double work_ns; /* of all parts, each with the cost of a reading of the clock */
};

/* Time the operation, start and finish, and its blocking counterpart. */
struct bc_span overlap_time_operation(struct op_instance *operation);
struct bc_span overlap_time_blocking(struct op_instance *operation);

/* Time the operation with work in `parts` equal parts, and a call between two parts; the second
   with two readings of the clock for each part. */
struct bc_span overlap_time_total(struct op_instance *operation, int64_t parts,
                                  uint64_t part_units);
struct overlap_timed_work overlap_time_parts(struct op_instance *operation, int64_t parts,
                                             uint64_t part_units);

/* Time the same work alone; the second in the same parts and with the same readings. */
struct bc_span overlap_time_work(int64_t parts, uint64_t part_units);
double overlap_time_work_parts(int64_t parts, uint64_t part_units);

/* Times `part`, the part in the operation of a rank that doesn't work; NULL: nothing. */
struct bc_span overlap_time_service(struct op_instance *operation, op_call_fn *part);
