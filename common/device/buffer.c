/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/device/buffer.h"

#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"

#include <stdlib.h>

/* Kernels move and compare doubles. */
static size_t doubles_of(size_t bytes) { return (bytes + sizeof(double) - 1) / sizeof(double); }

static void *allocate(const struct bc_buffer *buffer, enum bc_memory memory, const char *advice)
{
    /* The driver has no memory of 0 bytes. */
    const size_t bytes = doubles_of(buffer->bytes > 0 ? buffer->bytes : 1) * sizeof(double);
    void *const start = bc_device_allocate(buffer->device, memory, bytes);
    if (start == NULL)
        bc_abort("--memory: no memory for a buffer of %zu bytes: use %s", bytes, advice);
    return start;
}

static void create(struct bc_buffer *buffer, bool image, const char *advice)
{
    const size_t bytes = buffer->bytes;
    buffer->start = allocate(buffer, buffer->memory, advice);
    void *const zeros = bc_allocate_pages(bytes, "no memory for %zu bytes", bytes);
    bc_device_copy(buffer->device, buffer->start, zeros, bytes);
    bc_device_wait(buffer->device);
    if (image) {
        buffer->image = zeros;
        buffer->copy = allocate(buffer, BC_MEMORY_DEVICE, advice);
    } else {
        free(zeros);
    }
}

static void destroy(struct bc_buffer *buffer)
{
    free(buffer->image);
    if (buffer->copy != NULL)
        bc_device_free(buffer->device, BC_MEMORY_DEVICE, buffer->copy);
    bc_device_free(buffer->device, buffer->memory, buffer->start);
}

static void renew(struct bc_buffer *buffer)
{
    void *const old = buffer->start;
    buffer->start = allocate(buffer, buffer->memory, "--buffers=reused, or less of it");
    bc_device_move(buffer->device, buffer->start, old, doubles_of(buffer->bytes));
    bc_device_wait(buffer->device);
    bc_device_free(buffer->device, buffer->memory, old);
}

static void fill(struct bc_buffer *buffer, size_t bytes)
{
    bc_device_copy(buffer->device, buffer->copy, buffer->image, bytes);
    bc_device_move(buffer->device, buffer->start, buffer->copy, doubles_of(bytes));
    bc_device_wait(buffer->device);
}

static bool read_back(struct bc_buffer *buffer, size_t bytes)
{
    /* A kernel compares whole doubles. */
    const size_t whole = doubles_of(bytes) * sizeof(double);
    bc_device_copy(buffer->device, buffer->image, buffer->start, whole);
    bc_device_copy(buffer->device, buffer->copy, buffer->image, whole);
    return bc_device_is_equal(buffer->device, buffer->start, buffer->copy, doubles_of(bytes));
}

const struct bc_buffer_functions bc_device_buffer_functions = {create, destroy, renew, fill,
                                                               read_back};
