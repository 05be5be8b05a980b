/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes of datatypes. Those of predefined ones never change, so they are asked for once: a call of
 * MPI_Type_size takes 50 instructions. All functions are local.
 */
#pragma once

#include "common/mpi/counts.h"
#include "monitor/lib/count/handles.h"

enum { TYPE_SIZES_BITS = 8 };

/* Entries of the table, each in its bucket; read-only while anything is monitored. */
extern struct type_size {
    uint64_t key; /* datatype_key; 0: no datatype */
    int64_t size;
} type_sizes[1 << TYPE_SIZES_BITS];

/* Fills the table. Call it once, while MPI is initialized and before anything is monitored. */
void type_sizes_start(void);

/* Returns the size of a datatype in bytes. */
static inline int64_t type_size(MPI_Datatype datatype)
{
    const uint64_t key = datatype_key(datatype);
    const struct type_size *const known = &type_sizes[key_bucket(key, TYPE_SIZES_BITS)];
    if (__builtin_expect(known->key == key, 1))
        return known->size;
    MPI_Count size = 0;
    BC_PMPI_TYPE_SIZE(datatype, &size);
    return (int64_t)size;
}
