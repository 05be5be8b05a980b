/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of elements beyond the largest `int`, which MPI-3 functions take. All functions are
 * local.
 *
 * Up to BC_COUNT_MAX elements are passed as they are. More are passed as one element of a datatype
 * made of blocks of BC_COUNT_MAX: J. Hammond, A. Schaefer and R. Latham, "To INT_MAX... and Beyond!
 * Exploring Large-Count Support in MPI", ExaMPI 2014. This doesn't work for reductions, whose
 * operations take predefined datatypes only, nor for int displacements.
 */
#pragma once

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The maximum that is passed as an int. Tests build with a smaller one. */
#ifndef BC_COUNT_MAX
#define BC_COUNT_MAX INT_MAX
#endif

/* The maximum number of elements that programs accept: its products with an element's size and with
   any number of ranks are still 64-bit integers. */
#define BC_ELEMENTS_MAX ((double)(INT64_C(1) << 40))

/* Returns true if `value` can be passed as an int. */
static inline bool bc_is_count(int64_t value) { return value >= 0 && value <= BC_COUNT_MAX; }

/* A number of elements, as arguments of an MPI function. */
struct bc_amount {
    int count;
    MPI_Datatype type; /* committed */
    bool made;         /* bc_amount_destroy frees the type */
};

/* Makes an amount of `elements` of a predefined datatype. */
void bc_amount_create(struct bc_amount *amount, int64_t elements, MPI_Datatype element);

/* Makes an amount that is always one element of a datatype, whose data begins displacement_bytes
   after its address: for displacements too large to be passed, and for libraries that add up counts
   of blocks. */
void bc_amount_create_at(struct bc_amount *amount, int64_t elements, MPI_Datatype element,
                         MPI_Aint displacement_bytes);

void bc_amount_destroy(struct bc_amount *amount);

/* Makes a datatype of `count` elements, at least one, whose starts are stride_bytes apart. The
   caller commits it, or builds on it, and frees it. */
MPI_Datatype bc_type_repeat(int64_t count, MPI_Aint stride_bytes, MPI_Datatype element);

enum { BC_DIRECTIONS = 3 };

/* Makes a datatype of the part of an array that begins at `start` and has `extent` elements in each
   direction, the last direction contiguous: MPI_Type_create_subarray for any size, whose extent
   differs if the array's size exceeds an int. Committed; the caller frees it. */
MPI_Datatype bc_type_box(const int64_t array[BC_DIRECTIONS], const int64_t extent[BC_DIRECTIONS],
                         const int64_t start[BC_DIRECTIONS], MPI_Datatype element);
