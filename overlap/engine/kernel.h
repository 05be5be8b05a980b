/* SPDX-License-Identifier: BSD-3-Clause */
/* The timed regions, on each rank: the operation, and work if there is any, between two readings of
   the clock. */
#pragma once

#include "common/measure/rounds.h"
#include "common/operations/operation.h"

/* An operation with timed parts of work. */
struct overlap_timed_work {
    struct bc_span span;
    double work_ns; /* of all parts, each with the cost of a reading */
};

/* Time the operation, start and finish, and its blocking counterpart. */
struct bc_span overlap_time_operation(struct op_instance *operation);
struct bc_span overlap_time_blocking(struct op_instance *operation);

/* Time the operation with work in `parts` equal parts and a call between two parts; the second
   function also reads the clock around each part. */
struct bc_span overlap_time_total(struct op_instance *operation, int64_t parts,
                                  uint64_t part_units);
struct overlap_timed_work overlap_time_parts(struct op_instance *operation, int64_t parts,
                                             uint64_t part_units);

/* Time the work alone; the second function in parts, with the same readings. */
struct bc_span overlap_time_work(int64_t parts, uint64_t part_units);
double overlap_time_work_parts(int64_t parts, uint64_t part_units);

/* Times `part` of a rank that doesn't work; NULL: nothing. */
struct bc_span overlap_time_service(struct op_instance *operation, op_call_fn *part);
