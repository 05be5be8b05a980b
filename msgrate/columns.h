/* What rows of msgrate and msgrate_rma say. */
#pragma once

#include "common/result/output.h"
#include "common/stats/stats.h"

enum { MSGRATE_PATTERNS = 4 };

/* Filled on rank 0. */
struct msgrate_result {
    const char *pattern;
    int job_size, npeers;
    int64_t nmsgs, nbytes, cache_size;
    int ppn;
    struct bc_summary iteration; /* the slowest rank's time, ns */
    int64_t iterations;
    double rate_per_s, rate_lo_per_s, rate_hi_per_s; /* of a rank */
    double total_rate_per_s;                         /* of all ranks that take part */
    struct bc_outcome outcome;
    double rates_per_s[MSGRATE_PATTERNS];   /* msgrate -o only */
    const char *synchronisation, *transfer; /* msgrate_rma only */
    int64_t threads;                        /* msgrate_rma only */
};

/* Of msgrate, without and with -o, and of msgrate_rma. */
extern const struct bc_table msgrate_table, msgrate_machine_table, msgrate_rma_table;
