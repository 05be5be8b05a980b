/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/type_sizes.h"

struct type_size type_sizes[1 << TYPE_SIZES_BITS];

void type_sizes_start(void)
{
    const MPI_Datatype predefined[] = {
        MPI_BYTE,
        MPI_CHAR,
        MPI_INT,
        MPI_UNSIGNED,
        MPI_LONG,
        MPI_UNSIGNED_LONG,
        MPI_FLOAT,
        MPI_DOUBLE,
        MPI_INT32_T,
        MPI_INT64_T,
        MPI_UINT64_T,
        MPI_C_DOUBLE_COMPLEX,
        MPI_DOUBLE_INT,
        MPI_PACKED,
        MPI_INTEGER,
        MPI_REAL,
        MPI_DOUBLE_PRECISION,
        MPI_COMPLEX,
        MPI_DOUBLE_COMPLEX,
        MPI_LOGICAL,
        MPI_CHARACTER,
    };
    for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++) {
        const uint64_t key = datatype_key(predefined[i]);
        struct type_size *const entry = &type_sizes[key_bucket(key, TYPE_SIZES_BITS)];
        if (entry->key == 0)
            *entry = (struct type_size){key, TYPE_SIZE_UNKNOWN};
    }
}
