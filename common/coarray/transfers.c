/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/coarray/transfers.h"

void bc_transfer_conclude(const struct bc_run *run, struct bc_store *store, const char *quantity,
                          int transfers, int64_t ndata, int64_t wrong,
                          struct bc_transfer_result *result)
{
    const double mib = (double)sizeof(double) * (double)ndata / 1048576.0;
    bc_store_conclude(run, store, quantity, &result->measured);
    result->latency = result->measured.repetition;
    bc_summary_scale(&result->latency, 1.0 / transfers);
    result->bwidth_mbs = mib / (result->latency.value * 1e-9);
    result->check = "off";
    if (run->settings.check)
        result->check = bc_sum_wrong(wrong, &result->measured.outcome) > 0 ? "FAIL" : "ok";
}
