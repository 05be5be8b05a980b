/* SPDX-License-Identifier: BSD-3-Clause */
#include "pingpong/pingpong.h"

const struct bc_column pingpong_buffers_column =
    BC_COLUMN("buffers", BC_RUN_KEY, 0, pingpong_result, buffers);

static const struct bc_column columns[] = {
    BC_COLUMN("arrangement", BC_RUN_KEY, 0, pingpong_result, arrangement),
    BC_COLUMN("pattern", BC_KEY, 16, pingpong_result, pattern),
    BC_COLUMN("sync", BC_KEY, 6, pingpong_result, sync),
    BC_COLUMN("count", BC_KEY, 6, pingpong_result, shape.count),
    BC_COLUMN("blksize", BC_KEY, 7, pingpong_result, shape.blksize),
    BC_COLUMN("stride", BC_KEY, 6, pingpong_result, shape.stride),
    BC_COLUMN("ndata", BC_KEY, 0, pingpong_result, ndata),
    BC_COLUMN("nextent", BC_INFO, 0, pingpong_result, nextent),
    BC_TRANSFER_COLUMNS(pingpong_result, transfers),
    BC_EXPECTED_COLUMNS(pingpong_result, expected),
    BC_OUTCOME_COLUMNS(pingpong_result, transfers.measured.outcome),
};

const struct bc_table pingpong_table = {
    .columns = columns,
    .count = sizeof columns / sizeof *columns,
    .main =
        "pattern,sync,count,blksize,stride,ndata,nextent,latency_us,latency_lo_us,latency_hi_us,"
        "bwidth_mbs,share_pct,status",
    .spare = "count,ndata,nextent,bwidth_mbs,share_pct"};
