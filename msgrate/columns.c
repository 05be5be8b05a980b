/* SPDX-License-Identifier: BSD-3-Clause */
#include "msgrate/bench.h"

#define MSGRATE_JOB_COLUMNS                                                                        \
    BC_COLUMN("job_size", BC_RUN_KEY, 0, msgrate_result, job_size),                                \
        BC_COLUMN("npeers", BC_RUN_KEY, 0, msgrate_result, npeers),                                \
        BC_COLUMN("niters", BC_INFO, 0, msgrate_result, iterations.repetitions),                   \
        BC_COLUMN("nmsgs", BC_RUN_KEY, 0, msgrate_result, nmsgs),                                  \
        BC_COLUMN("nbytes", BC_RUN_KEY, 0, msgrate_result, nbytes),                                \
        BC_COLUMN("cache_size", BC_RUN_KEY, 0, msgrate_result, cache_size),                        \
        BC_COLUMN("ppn", BC_RUN_KEY, 0, msgrate_result, ppn)
#define MSGRATE_COLUMNS                                                                            \
    MSGRATE_JOB_COLUMNS, BC_COLUMN("rate_per_s", BC_MORE, 1, msgrate_result, rate_per_s),          \
        BC_COLUMN("rate_lo_per_s", BC_INFO, 1, msgrate_result, rate_lo_per_s),                     \
        BC_COLUMN("rate_hi_per_s", BC_INFO, 1, msgrate_result, rate_hi_per_s),                     \
        BC_COLUMN("total_rate_per_s", BC_INFO, 1, msgrate_result, total_rate_per_s),               \
        BC_TIME_COLUMNS("iter", BC_INFO, 3, msgrate_result, iterations.repetition),                \
        BC_OUTCOME_COLUMNS(msgrate_result, iterations.outcome)

#define RATE "rate_per_s,rate_lo_per_s,rate_hi_per_s,status"

const struct bc_column msgrate_buffers_column =
    BC_COLUMN("buffers", BC_RUN_KEY, 0, msgrate_result, buffers);

static const struct bc_column columns[] = {
    BC_COLUMN("pattern", BC_KEY, 16, msgrate_result, pattern),
    MSGRATE_COLUMNS,
};

const struct bc_table msgrate_table = {.columns = columns,
                                       .count = sizeof columns / sizeof *columns,
                                       .main = "pattern,npeers,nbytes," RATE};

/* The output has no header: readers rely on column order. */
static const struct bc_column machine_columns[] = {
    MSGRATE_JOB_COLUMNS,
    BC_COLUMN("single direction", BC_MORE, 1, msgrate_result, rates_per_s[0]),
    BC_COLUMN("pair-based", BC_MORE, 1, msgrate_result, rates_per_s[1]),
    BC_COLUMN("pre-post", BC_MORE, 1, msgrate_result, rates_per_s[2]),
    BC_COLUMN("all-start", BC_MORE, 1, msgrate_result, rates_per_s[3]),
};

const struct bc_table msgrate_machine_table = {
    .columns = machine_columns, .count = sizeof machine_columns / sizeof *machine_columns};

static const struct bc_column rma_columns[] = {
    BC_COLUMN("pattern", BC_KEY, 16, msgrate_result, pattern),
    BC_COLUMN("synchronisation", BC_KEY, 0, msgrate_result, synchronisation),
    BC_COLUMN("transfer", BC_KEY, 0, msgrate_result, transfer),
    BC_COLUMN("threads", BC_RUN_KEY, 0, msgrate_result, threads),
    MSGRATE_COLUMNS,
};

const struct bc_table msgrate_rma_table = {.columns = rma_columns,
                                           .count = sizeof rma_columns / sizeof *rma_columns,
                                           .main = "pattern,synchronisation,transfer," RATE};
