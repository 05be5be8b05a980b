/*
 * Counts beyond what MPI's int arguments hold.
 *
 * Up to BC_COUNT_MAX elements are passed as they are, with their own datatype.
 * More are passed as one element of a datatype that has them all, made of blocks
 * of BC_COUNT_MAX: J. Hammond, A. Schaefer and R. Latham, "To INT_MAX... and
 * Beyond! Exploring Large-Count Support in MPI", ExaMPI 2014. So the call is the
 * same for every size, and which datatype it gets is settled before anything is
 * timed. It does for messages, transfers and collectives, but for reductions,
 * whose operations take predefined datatypes only, and for int displacements.
 *
 * All functions are local. Errors of MPI's end the job.
 */
#ifndef COMMCOST_COMMON_MPI_LARGE_COUNT_H
#define COMMCOST_COMMON_MPI_LARGE_COUNT_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The most that is passed as an int. Tests build with less, so that small
   buffers go the way of large ones. */
#ifndef BC_COUNT_MAX
#define BC_COUNT_MAX INT_MAX
#endif

/* No program takes a number of elements beyond this, 2^40: products with the
   size of an element and with any number of ranks are still 64-bit integers. */
#define BC_ELEMENTS_MAX ((double)(INT64_C(1) << 40))

/* Whether it can be passed as it is. */
static inline bool bc_is_count(int64_t value)
{
    return value >= 0 && value <= BC_COUNT_MAX;
}

/* It as MPI takes it. Ends the job where it can't be passed as it is: nothing is ever
   cut. */
int bc_as_count(int64_t value);

/* So many elements, as arguments of an MPI function. */
struct bc_amount {
    int count;
    MPI_Datatype type; /* committed */
    bool made;         /* the type is the amount's own */
};

/* `elements` of a predefined datatype, none or more; to be destroyed when no
   operation needs it any more. */
void bc_amount_create(struct bc_amount *amount, int64_t elements, MPI_Datatype element);

/* The same always as one element of a datatype, whose data begins so many bytes
   behind the address that it is used with: where a displacement is too large to
   be passed, or where libraries add up the counts of several blocks. */
void bc_amount_create_at(struct bc_amount *amount, int64_t elements, MPI_Datatype element,
                         MPI_Aint displacement_bytes);

void bc_amount_destroy(struct bc_amount *amount);

/* `count` elements, at least one, the starts of two `stride_bytes` apart. The
   caller commits it, or builds on it, and frees it. */
MPI_Datatype bc_type_repeat(int64_t count, MPI_Aint stride_bytes, MPI_Datatype element);

#define BC_DIRECTIONS_MAX 7 /* as in Fortran */

/* The part of an array that begins at `start` and has `extent` elements in each
   direction, the last one contiguous, as MPI_Type_create_subarray has it, but for
   the extent where the array is larger than ints can tell. Committed; the caller
   frees it. Ends the job if there are no directions or more than BC_DIRECTIONS_MAX. */
MPI_Datatype bc_type_box(int directions, const int64_t *array, const int64_t *extent,
                         const int64_t *start, MPI_Datatype element);

#endif
