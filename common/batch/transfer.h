/*
 * Rows of programs that time batches of transfers: latency, bandwidth and whether the data was
 * right, with the columns of the EPCC Fortran coarray micro-benchmark suite.
 */
#pragma once

#include "common/result/output.h"
#include "common/batch/batch.h"

/* What a row remembers from visit to visit; all zeros before the first one. */
struct bc_transfer_row {
    struct bc_batch_row batches;
    int64_t wrong; /* transfers with wrong data, on this rank */
};

/* On rank 0. */
struct bc_transfer_result {
    struct bc_batch_result batches;
    struct bc_summary latency; /* of one transfer, ns */
    double bwidth_mbs;
    const char *check; /* ok, FAIL or off */
};

#define BC_TRANSFER_COLUMNS(type, member)                                                          \
    BC_COLUMN("nrep", BC_INFO, 0, type, member.batches.repetitions),                               \
        BC_COLUMN("time_s", BC_INFO, 6, type, member.batches.total_s),                             \
        BC_TIME_COLUMNS("latency", BC_LESS, 3, type, member.latency),                              \
        BC_COLUMN("bwidth_mbs", BC_INFO, 6, type, member.bwidth_mbs),                              \
        BC_COLUMN("check", BC_INFO, 0, type, member.check),                                        \
        BC_OUTCOME_COLUMNS(type, member.batches.outcome)

/* Makes the result of all visits of a row whose repetitions, called `quantity` by --dump-samples,
   are `transfers` transfers each of `ndata` doubles, and frees what the row holds. Collective over
   MPI_COMM_WORLD. */
void bc_transfer_conclude(const struct bc_run *run, struct bc_transfer_row *row,
                          const char *quantity, int transfers, int64_t ndata,
                          struct bc_transfer_result *result);
