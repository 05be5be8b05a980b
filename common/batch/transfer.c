#include "common/batch/transfer.h"

void bc_transfer_conclude(const struct bc_run *run, struct bc_transfer_row *row,
                          const char *quantity, int transfers, int64_t ndata,
                          struct bc_transfer_result *result)
{
    const double mib = (double)sizeof(double) * (double)ndata / 1048576.0;
    bc_batch_conclude(run, &row->batches, quantity, &result->batches);
    result->latency = result->batches.repetition;
    bc_summary_scale(&result->latency, 1.0 / transfers);
    result->bwidth_mbs = mib / (result->latency.value * 1e-9);
    result->check = "off";
    if (run->settings.check)
        result->check = bc_sum_wrong(row->wrong, &result->batches.outcome) > 0 ? "FAIL" : "ok";
}
