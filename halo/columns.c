/* SPDX-License-Identifier: BSD-3-Clause */
#include "halo/halo.h"

static const struct bc_column columns[] = {
    BC_COLUMN("method", BC_KEY, 18, halo_result, method),
    BC_COLUMN("sync", BC_KEY, 6, halo_result, sync),
    BC_COLUMN("dims", BC_RUN_KEY, 0, halo_result, dims),
    BC_COLUMN("local", BC_KEY, 11, halo_result, local),
    BC_COLUMN("ndata", BC_INFO, 0, halo_result, ndata),
    BC_TRANSFER_COLUMNS(halo_result, swaps),
    BC_OUTCOME_COLUMNS(halo_result, swaps.measured.outcome),
};

const struct bc_table halo_table = {
    .columns = columns,
    .count = sizeof columns / sizeof *columns,
    .main = "method,sync,local,latency_us,latency_lo_us,latency_hi_us,bwidth_mbs,status"};
