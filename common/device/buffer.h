/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers on a device (common/memory/buffer.h). */
#pragma once

#include "common/device/device.h"
#include "common/memory/buffer_functions.h"

/* For bc_buffer_set_functions. */
extern const struct bc_buffer_functions bc_device_buffer_functions;

/* Copies the first `bytes` bytes between buffers of one device, as bc_device_copy does. */
static inline void bc_buffer_copy(const struct bc_buffer *to, const struct bc_buffer *from,
                                  size_t bytes)
{
    bc_device_copy(to->device, to->start, from->start, bytes);
}
