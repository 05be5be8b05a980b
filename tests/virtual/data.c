/* SPDX-License-Identifier: BSD-3-Clause */
/* Data of operations, packed by the real library into memory that ranks share. */
#include "common/mpi/counts.h"
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <string.h>

int64_t bytes_of(int64_t count, MPI_Datatype type)
{
    MPI_Count size;
    BC_PMPI_TYPE_SIZE(type, &size);
    return count * (int64_t)size;
}

/* True if elements follow one another without gaps. */
static bool is_contiguous(MPI_Datatype type)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    const int64_t size = bytes_of(1, type);
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    return lower == 0 && true_lower == 0 && size == extent && size == true_extent;
}

bool (*data_device)(const void *buffer, int64_t bytes);
bool (*data_is_stale)(const void *memory);

/* ---- registration ---------------------------------------------------------------------------- */

enum { PAGE_BYTES = 4096, STACK_BYTES = 8 << 20 };

static uintptr_t *seen; /* numbers of pages */
static size_t seen_count;

static bool is_seen(uintptr_t page)
{
    size_t i = 0;
    while (i < seen_count && seen[i] != page)
        i++;
    return i < seen_count;
}

/* Where the stack begins within a page differs from run to run: what lies there costs nothing. */
static bool is_on_stack(const void *buffer)
{
    const char here = 0;
    const intptr_t away = (intptr_t)buffer - (intptr_t)&here;
    return away > -STACK_BYTES && away < STACK_BYTES;
}

double data_apart_share(const void *one, const void *other, int64_t bytes)
{
    const bool counts = bytes >= APART_BYTES && !is_on_stack(one) && !is_on_stack(other);
    return counts && ((uintptr_t)one ^ (uintptr_t)other) % 64 != 0 ? parameters.apart_share : 0.0;
}

void data_register(const void *buffer, int64_t bytes)
{
    const size_t before = seen_count;
    if (parameters.register_ns == 0.0 || bytes == 0 || is_on_stack(buffer))
        return;
    const uintptr_t last = ((uintptr_t)buffer + (uintptr_t)bytes - 1) / PAGE_BYTES;
    for (uintptr_t page = (uintptr_t)buffer / PAGE_BYTES; page <= last; page++)
        if (!is_seen(page)) {
            seen = world_grow(seen, seen_count + 1, sizeof *seen);
            seen[seen_count++] = page;
        }
    if (seen_count > before)
        clock_spend(parameters.register_ns);
}

void data_forget(const void *start, size_t bytes)
{
    const uintptr_t first = ((uintptr_t)start + PAGE_BYTES - 1) / PAGE_BYTES;
    const uintptr_t end = ((uintptr_t)start + bytes) / PAGE_BYTES;
    size_t kept = 0;
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i] < first || seen[i] >= end)
            seen[kept++] = seen[i];
    seen_count = kept;
}

/* ---- packing --------------------------------------------------------------------------------- */

struct packed data_pack(const void *buffer, int64_t count, MPI_Datatype type)
{
    const int64_t bytes = bytes_of(count, type);
    if (data_device != NULL)
        (void)data_device(buffer, bytes);
    struct packed packed = {NULL, (size_t)bytes, false};
    if (bytes == 0 || (bytes > DATA_BYTES && parameters.data == 0.0))
        return packed;
    packed.start = world_allocate(packed.bytes);
    if (is_contiguous(type)) {
        memcpy(packed.start, buffer, packed.bytes);
        return packed;
    }
    int position = 0;
    PMPI_Pack(buffer, (int)count, type, packed.start, (int)bytes, &position, MPI_COMM_SELF);
    return packed;
}

struct packed data_keep(const void *buffer, int64_t count, MPI_Datatype type)
{
    MPI_Aint lower, extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    struct packed kept = {NULL, (size_t)(count * (int64_t)extent), true};
    if (count == 0 || (bytes_of(count, type) > DATA_BYTES && parameters.data == 0.0))
        return kept;
    if (data_device != NULL)
        (void)data_device(buffer, (int64_t)kept.bytes);
    kept.start = world_allocate(kept.bytes);
    memcpy(kept.start, buffer, kept.bytes);
    return kept;
}

void data_unpack(const struct packed *packed, void *buffer, int64_t count, MPI_Datatype type)
{
    if (data_device != NULL && !data_device(buffer, (int64_t)packed->bytes))
        return;
    if (packed->start == NULL)
        return;
    if (packed->kept || is_contiguous(type)) {
        const size_t bytes = packed->kept ? packed->bytes : (size_t)bytes_of(count, type);
        memcpy(buffer, packed->start, packed->bytes < bytes ? packed->bytes : bytes);
        return;
    }
    int position = 0;
    PMPI_Unpack(packed->start, (int)packed->bytes, &position, buffer, (int)count, type,
                MPI_COMM_SELF);
}

void data_release(struct packed *packed)
{
    world_release(packed->start, packed->bytes);
    packed->start = NULL;
}

void data_damage(const struct packed *packed)
{
    if (packed->start != NULL)
        packed->start[0] = (char)(packed->start[0] ^ 0x5a);
}
