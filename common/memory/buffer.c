/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/memory/buffer_functions.h"

#include "common/memory/placement.h"

#include <string.h>

static const struct bc_buffer_functions *on_device; /* NULL: no device is open */

void bc_buffer_set_functions(const struct bc_buffer_functions *functions) { on_device = functions; }

static void allocate(struct bc_buffer *buffer, const char *advice)
{
    buffer->start = bc_allocate_buffer(buffer->bytes, "no memory for a buffer of %zu bytes: use %s",
                                       buffer->bytes, advice);
    buffer->image = buffer->start;
}

void bc_buffer_create(struct bc_buffer *buffer, struct bc_device *device, enum bc_memory memory,
                      size_t bytes, bool image, const char *advice)
{
    *buffer = (struct bc_buffer){.device = device, .memory = memory, .bytes = bytes};
    if (memory == BC_MEMORY_HOST)
        allocate(buffer, advice);
    else
        on_device->create(buffer, image, advice);
}

void bc_buffer_destroy(struct bc_buffer *buffer)
{
    if (buffer->memory == BC_MEMORY_HOST)
        bc_free_buffer(buffer->start);
    else
        on_device->destroy(buffer);
}

struct bc_buffer bc_buffer_in(void *memory, size_t bytes)
{
    return (struct bc_buffer){
        .memory = BC_MEMORY_HOST, .bytes = bytes, .start = memory, .image = memory};
}

void bc_buffer_renew(struct bc_buffer *buffer)
{
    void *const former = buffer->start;
    if (buffer->memory != BC_MEMORY_HOST) {
        on_device->renew(buffer);
        return;
    }
    allocate(buffer, "--buffers=reused, or less of it");
    memcpy(buffer->start, former, buffer->bytes);
    bc_free_buffer(former);
}

void bc_buffer_write(struct bc_buffer *buffer, size_t bytes)
{
    if (buffer->memory != BC_MEMORY_HOST && bytes > 0)
        on_device->write(buffer, bytes);
}

bool bc_buffer_read(struct bc_buffer *buffer, size_t bytes)
{
    return buffer->memory == BC_MEMORY_HOST || bytes == 0 || on_device->read(buffer, bytes);
}
