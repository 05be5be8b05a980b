#include "common/device/buffer.h"

#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"

#include <stdlib.h>
#include <string.h>

/* Kernels move and compare doubles. */
static size_t doubles_of(size_t bytes) { return (bytes + sizeof(double) - 1) / sizeof(double); }

static void *allocate(const struct bc_buffer *buffer, enum bc_memory memory, const char *advice)
{
    /* The driver has no memory of 0 bytes. */
    const size_t bytes = doubles_of(buffer->bytes > 0 ? buffer->bytes : 1) * sizeof(double);
    if (memory == BC_MEMORY_HOST)
        return bc_allocate_pages(bytes, "no memory for a buffer of %zu bytes: use %s", bytes,
                                 advice);
    void *const start = bc_device_allocate(buffer->device, memory, bytes);
    if (start == NULL)
        bc_abort("--memory: no memory for a buffer of %zu bytes: use %s", bytes, advice);
    return start;
}

void bc_buffer_create(struct bc_buffer *buffer, struct bc_device *device, enum bc_memory memory,
                      size_t bytes, bool image, const char *advice)
{
    *buffer = (struct bc_buffer){.device = device, .memory = memory, .bytes = bytes};
    buffer->start = allocate(buffer, memory, advice);
    if (memory == BC_MEMORY_HOST) {
        buffer->image = buffer->start;
        return;
    }
    void *const zeros = bc_allocate_pages(bytes, "no memory for %zu bytes", bytes);
    bc_device_copy(device, buffer->start, zeros, bytes);
    bc_device_wait(device);
    if (image) {
        buffer->image = zeros;
        buffer->copy = allocate(buffer, BC_MEMORY_DEVICE, advice);
    } else {
        free(zeros);
    }
}

void bc_buffer_destroy(struct bc_buffer *buffer)
{
    if (buffer->memory == BC_MEMORY_HOST) {
        free(buffer->start);
        return;
    }
    free(buffer->image);
    if (buffer->copy != NULL)
        bc_device_free(buffer->device, BC_MEMORY_DEVICE, buffer->copy);
    bc_device_free(buffer->device, buffer->memory, buffer->start);
}

struct bc_buffer bc_buffer_in(void *memory, size_t bytes)
{
    return (struct bc_buffer){
        .memory = BC_MEMORY_HOST, .bytes = bytes, .start = memory, .image = memory};
}

void bc_buffer_renew(struct bc_buffer *buffer)
{
    void *const former = buffer->start;
    buffer->start = allocate(buffer, buffer->memory, "--buffers=reused, or less of it");
    if (buffer->memory == BC_MEMORY_HOST) {
        memcpy(buffer->start, former, buffer->bytes);
        buffer->image = buffer->start;
        free(former);
    } else {
        bc_device_move(buffer->device, buffer->start, former, doubles_of(buffer->bytes));
        bc_device_wait(buffer->device);
        bc_device_free(buffer->device, buffer->memory, former);
    }
}

void bc_buffer_write(struct bc_buffer *buffer, size_t bytes)
{
    if (buffer->memory == BC_MEMORY_HOST || bytes == 0)
        return;
    bc_device_copy(buffer->device, buffer->copy, buffer->image, bytes);
    bc_device_move(buffer->device, buffer->start, buffer->copy, doubles_of(bytes));
    bc_device_wait(buffer->device);
}

bool bc_buffer_read(struct bc_buffer *buffer, size_t bytes)
{
    if (buffer->memory == BC_MEMORY_HOST || bytes == 0)
        return true;
    /* A kernel compares whole doubles. */
    const size_t whole = doubles_of(bytes) * sizeof(double);
    bc_device_copy(buffer->device, buffer->image, buffer->start, whole);
    bc_device_copy(buffer->device, buffer->copy, buffer->image, whole);
    return bc_device_is_equal(buffer->device, buffer->start, buffer->copy, doubles_of(bytes));
}
