/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes of datatypes. Those of predefined ones never change, so a table keeps them: a call of
 * MPI_Type_size takes 50 instructions. All functions are local and need no lock.
 */
#pragma once

#include "common/mpi/counts.h"
#include "monitor/lib/count/handles.h"

enum { TYPE_SIZES_BITS = 8, TYPE_SIZE_UNKNOWN = -1 };

/* Predefined datatypes, each in its bucket. A derived one isn't kept, since its handle may be
   reused. */
extern struct type_size {
    uint64_t key; /* datatype_key; 0: the bucket is empty. Set by type_sizes_start */
    int64_t size; /* TYPE_SIZE_UNKNOWN until the program uses the datatype. Atomic */
} type_sizes[1 << TYPE_SIZES_BITS];

/* Fills in the datatypes. Call it once, before anything is monitored. */
void type_sizes_start(void);

/* Returns the size of a datatype in bytes. */
static inline int64_t type_size(MPI_Datatype datatype)
{
    const uint64_t key = datatype_key(datatype);
    struct type_size *const entry = &type_sizes[key_bucket(key, TYPE_SIZES_BITS)];
    const int64_t kept = __atomic_load_n(&entry->size, __ATOMIC_RELAXED);
    if (__builtin_expect(entry->key == key && kept >= 0, 1))
        return kept;
    MPI_Count size = 0;
    BC_PMPI_TYPE_SIZE(datatype, &size);
    if (entry->key == key)
        __atomic_store_n(&entry->size, (int64_t)size, __ATOMIC_RELAXED);
    return (int64_t)size;
}
