/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Result of transfers of doubles between ranks: latency, bandwidth and check, in the columns of the
 * EPCC Fortran coarray micro-benchmark suite.
 */
#pragma once

#include "common/measure/result.h"

struct bc_transfer_result {
    struct bc_repetition_result measured;
    struct bc_summary latency; /* of one transfer, ns; rank 0 */
    double bwidth_mbs;         /* rank 0 */
    const char *check;         /* ok, FAIL or off; rank 0 */
};

/* Makes the result of repetitions of `transfers` transfers of `ndata` doubles each, as
   bc_store_conclude does; `wrong` is this rank's number of transfers with wrong data. Collective
   over MPI_COMM_WORLD. */
void bc_transfer_conclude(const struct bc_run *run, struct bc_store *store, const char *quantity,
                          int transfers, int64_t ndata, int64_t wrong,
                          struct bc_transfer_result *result);

#define BC_TRANSFER_COLUMNS(type, member)                                                          \
    BC_COLUMN("nrep", BC_INFO, 0, type, member.measured.repetitions),                              \
        BC_COLUMN("time_s", BC_INFO, 6, type, member.measured.total_s),                            \
        BC_TIME_COLUMNS("latency", BC_LESS, 3, type, member.latency),                              \
        BC_COLUMN("bwidth_mbs", BC_INFO, 6, type, member.bwidth_mbs),                              \
        BC_COLUMN("check", BC_INFO, 0, type, member.check)
