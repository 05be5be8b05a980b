/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A buffer for MPI, in memory of any kind, with new memory for each repetition (--buffers=new).
 * common/device/ sets the functions for kinds other than host memory. All functions are local.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum bc_memory {
    BC_MEMORY_HOST,
    BC_MEMORY_PINNED, /* host memory that the device reads and writes directly */
    BC_MEMORY_DEVICE,
    BC_MEMORY_MANAGED /* migrates to where it is used */
};

/* Returns true if a program that passes only host memory to MPI must copy such a buffer. */
static inline bool bc_memory_needs_copy(enum bc_memory memory)
{
    return memory == BC_MEMORY_DEVICE || memory == BC_MEMORY_MANAGED;
}

/* Returns true if buffers of both kinds lie in host memory. */
static inline bool bc_memory_is_host(const enum bc_memory of[2])
{
    return of[0] == BC_MEMORY_HOST && of[1] == BC_MEMORY_HOST;
}

/* --buffers: each repetition gets the same memory, or newly allocated memory, at an address that
   MPI may have seen, as in any program. */
enum bc_buffers { BC_BUFFERS_REUSED, BC_BUFFERS_NEW };

/* Returns the word of the option. */
static inline const char *bc_buffers_word(int buffers)
{
    return buffers == BC_BUFFERS_NEW ? "new" : "reused";
}

struct bc_device;

struct bc_buffer {
    struct bc_device *device; /* may be NULL with BC_MEMORY_HOST */
    enum bc_memory memory;
    size_t bytes;
    void *start; /* the address for MPI */
    void *image; /* in host memory: source of bc_buffer_write and destination of bc_buffer_read;
                    `start` with BC_MEMORY_HOST */
    void *copy;  /* of the image, on the device; NULL with BC_MEMORY_HOST */
};

/* Makes a buffer of zeros. If memory runs out, ends the job with the advice to use `advice`.
   `image` is true if bc_buffer_write and bc_buffer_read will be called. */
void bc_buffer_create(struct bc_buffer *buffer, struct bc_device *device, enum bc_memory memory,
                      size_t bytes, bool image, const char *advice);
void bc_buffer_destroy(struct bc_buffer *buffer);

/* Returns a buffer in the caller's host memory, which the caller frees. */
struct bc_buffer bc_buffer_in(void *memory, size_t bytes);

/* Moves the data to newly allocated memory, then frees the old memory: `start` changes. MPI must
   not be using it. */
void bc_buffer_renew(struct bc_buffer *buffer);

/* Fills the first `bytes` bytes from the image, by a kernel if the device has one. MPI may read
   them on return. */
void bc_buffer_write(struct bc_buffer *buffer, size_t bytes);

/* Reads the first `bytes` bytes into the image by a copy. False if a kernel sees different data. */
bool bc_buffer_read(struct bc_buffer *buffer, size_t bytes);
