/* What a row of halo says. */
#pragma once

#include "common/batch/transfer.h"

struct halo_result {
    const char *method, *sync;
    char dims[BC_CELL_LENGTH], local[BC_CELL_LENGTH];
    int64_t ndata;
    struct bc_transfer_result swaps;
};

extern const struct bc_table halo_table;
