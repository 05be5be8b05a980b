/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mpi/large_count.h"

#include "common/mpi/mpi_check.h"

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lower_bound, extent;
    BC_MPI(MPI_Type_get_extent(type, &lower_bound, &extent));
    return extent;
}

/* ---- many elements --------------------------------------------------------------------------- */

/* MPI libraries recognize contiguous data by how its datatype was made. */
static MPI_Datatype repeat_few(int64_t count, MPI_Aint stride_bytes, MPI_Datatype element)
{
    MPI_Datatype type;
    if (stride_bytes == extent_of(element))
        BC_MPI(MPI_Type_contiguous((int)count, element, &type));
    else
        BC_MPI(MPI_Type_create_hvector((int)count, 1, stride_bytes, element, &type));
    return type;
}

/* Returns a datatype of `first` and, second_at bytes after its start, `second`. Frees both. */
static MPI_Datatype join(MPI_Datatype first, MPI_Datatype second, MPI_Aint second_at)
{
    const int lengths[] = {1, 1};
    const MPI_Aint displacements[] = {0, second_at};
    MPI_Datatype parts[] = {first, second}, type;
    BC_MPI(MPI_Type_create_struct(2, lengths, displacements, parts, &type));
    BC_MPI(MPI_Type_free(&parts[0]));
    BC_MPI(MPI_Type_free(&parts[1]));
    return type;
}

MPI_Datatype bc_type_repeat(int64_t count, MPI_Aint stride_bytes, MPI_Datatype element)
{
    if (count <= BC_COUNT_MAX)
        return repeat_few(count, stride_bytes, element);
    const int64_t blocks = count / BC_COUNT_MAX, rest = count % BC_COUNT_MAX;
    const MPI_Aint block_stride_bytes = stride_bytes * BC_COUNT_MAX;
    MPI_Datatype block = repeat_few(BC_COUNT_MAX, stride_bytes, element);
    const MPI_Datatype whole = bc_type_repeat(blocks, block_stride_bytes, block);
    BC_MPI(MPI_Type_free(&block));
    if (rest == 0)
        return whole;
    return join(whole, repeat_few(rest, stride_bytes, element), block_stride_bytes * blocks);
}

/* Returns the type moved by displacement_bytes. Frees `type`. */
static MPI_Datatype shift(MPI_Datatype type, MPI_Aint displacement_bytes)
{
    const int one = 1;
    MPI_Datatype shifted;
    BC_MPI(MPI_Type_create_hindexed(1, &one, &displacement_bytes, type, &shifted));
    BC_MPI(MPI_Type_free(&type));
    return shifted;
}

/* ---- amounts --------------------------------------------------------------------------------- */

void bc_amount_create(struct bc_amount *amount, int64_t elements, MPI_Datatype element)
{
    if (elements > BC_COUNT_MAX)
        bc_amount_create_at(amount, elements, element, 0);
    else
        *amount = (struct bc_amount){(int)elements, element, false};
}

void bc_amount_create_at(struct bc_amount *amount, int64_t elements, MPI_Datatype element,
                         MPI_Aint displacement_bytes)
{
    *amount = (struct bc_amount){0, element, false};
    if (elements == 0)
        return;
    MPI_Datatype type = bc_type_repeat(elements, extent_of(element), element);
    if (displacement_bytes != 0)
        type = shift(type, displacement_bytes);
    BC_MPI(MPI_Type_commit(&type));
    *amount = (struct bc_amount){1, type, true};
}

void bc_amount_destroy(struct bc_amount *amount)
{
    if (amount->made)
        BC_MPI(MPI_Type_free(&amount->type));
    amount->made = false;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Repeats elements to rows, rows to planes, and so on. */
static MPI_Datatype large_box(const int64_t *array, const int64_t *extent, const int64_t *start,
                              MPI_Datatype element)
{
    MPI_Aint stride_bytes = extent_of(element), start_bytes = 0;
    MPI_Datatype type;
    BC_MPI(MPI_Type_dup(element, &type));
    for (int d = BC_DIRECTIONS - 1; d >= 0; d--) {
        MPI_Datatype part = type;
        type = bc_type_repeat(extent[d], stride_bytes, part);
        BC_MPI(MPI_Type_free(&part));
        start_bytes += start[d] * stride_bytes;
        stride_bytes *= array[d];
    }
    return shift(type, start_bytes);
}

MPI_Datatype bc_type_box(const int64_t array[BC_DIRECTIONS], const int64_t extent[BC_DIRECTIONS],
                         const int64_t start[BC_DIRECTIONS], MPI_Datatype element)
{
    int sizes[BC_DIRECTIONS], subsizes[BC_DIRECTIONS], starts[BC_DIRECTIONS];
    bool counts = true;
    MPI_Datatype type;
    for (int d = 0; d < BC_DIRECTIONS; d++) {
        counts = counts && array[d] <= BC_COUNT_MAX;
        sizes[d] = (int)array[d];
        subsizes[d] = (int)extent[d];
        starts[d] = (int)start[d];
    }
    if (counts)
        BC_MPI(MPI_Type_create_subarray(BC_DIRECTIONS, sizes, subsizes, starts, MPI_ORDER_C,
                                        element, &type));
    else
        type = large_box(array, extent, start, element);
    BC_MPI(MPI_Type_commit(&type));
    return type;
}
