/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for buffers outside host memory, which common/device/ sets. */
#pragma once

#include "common/memory/buffer.h"

/* In `create`, the buffer's device, memory and bytes are set; in `write` and `read`, bytes > 0. */
struct bc_buffer_functions {
    void (*create)(struct bc_buffer *buffer, bool image, const char *advice);
    void (*destroy)(struct bc_buffer *buffer);
    void (*renew)(struct bc_buffer *buffer);
    void (*write)(struct bc_buffer *buffer, size_t bytes);
    bool (*read)(struct bc_buffer *buffer, size_t bytes);
};

/* Sets the functions, which must outlive the run, before such a buffer is made. Local. */
void bc_buffer_set_functions(const struct bc_buffer_functions *functions);
