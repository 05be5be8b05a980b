/* What a row of pingpong says. */
#pragma once

#include "common/batch/transfer.h"
#include "pingpong/shape.h"

struct pingpong_result {
    const char *arrangement, *pattern, *sync;
    struct pingpong_shape shape;
    int64_t ndata, nextent;
    struct bc_transfer_result transfers; /* two a repetition: there and back */
};

extern const struct bc_table pingpong_table;
