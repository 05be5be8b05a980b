/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The check-up's measurements and its table. The facts are in facts.h.
 */
#pragma once

#include "common/result/output.h"
#include "common/stats/stats.h"

#include <mpi.h>
#include <stdint.h>

/* A row of the result: a fact of some ranks, or a measurement. */
struct checkup_result {
    const char *ranks;           /* of MPI_COMM_WORLD, as ranges */
    const char *host;            /* of the first rank */
    const char *fact;            /* name */
    const char *value;           /* as text */
    struct bc_interval interval; /* of a measurement; NAN for a fact */
    const char *unit, *source;
};

extern const struct bc_table checkup_table;

/* The timed operation of a measurement, as a rank sees it. */
struct checkup_kernel {
    MPI_Comm comm; /* of the ranks that take part; MPI_COMM_NULL on others */
    int partner;   /* of messages; rank in comm */
    bool is_first; /* this rank sends first */
    int bytes;     /* of a message, a copy, or an operand */
    char *send, *receive;
};

/* Time `repetitions` round trips, copies, or allreduces (MPI_BYTE, MPI_BOR). Return the total time
   in ns. Collective over kernel->comm, except for copies, which are local. */
int64_t checkup_time_messages(const struct checkup_kernel *kernel, int64_t repetitions);
int64_t checkup_time_copies(const struct checkup_kernel *kernel, int64_t repetitions);
int64_t checkup_time_allreduces(const struct checkup_kernel *kernel, int64_t repetitions);
