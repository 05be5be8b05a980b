/*
 * A buffer that MPI gets, in memory of any kind: what it is to hold, what it holds, and other
 * memory for each repetition (--buffers=new).
 */
#pragma once

#include "common/device/device.h"
#include "common/run/program.h"

/* Whether MPI gets the same memory again, or memory that was allocated since: --buffers. The
   allocator may choose an address that MPI has seen, as in any program. */
enum bc_buffers { BC_BUFFERS_REUSED, BC_BUFFERS_NEW };

/* A row for a program's table of options; `at` is the offset of an int, an enum bc_buffers. */
#define BC_BUFFERS_OPTION(offset)                                                                  \
    {                                                                                              \
        "buffers", BC_CHOICE, (offset),                                                            \
            .choices = "reused|new",                                                               \
            .help = "new: memory that is allocated before each repetition, outside its time, so "  \
                    "that the time has in it what MPI does at a buffer's first use"                \
    }

/* The word of the choice. */
static inline const char *bc_buffers_word(int buffers)
{
    return buffers == BC_BUFFERS_NEW ? "new" : "reused";
}

struct bc_buffer {
    struct bc_device *device; /* may be NULL with BC_MEMORY_HOST */
    enum bc_memory memory;
    size_t bytes;
    void *start; /* what MPI gets */
    /* In host memory: what bc_buffer_write writes, and what bc_buffer_read has read; `start` itself
       with BC_MEMORY_HOST. */
    void *image;
    void *copy; /* of the image, on the device; NULL with BC_MEMORY_HOST */
};

/* All functions are local. */

/* Makes a buffer of zeros. Without memory ends the job with the advice to use `advice`. `image`:
   bc_buffer_write and bc_buffer_read will be called. */
void bc_buffer_create(struct bc_buffer *buffer, struct bc_device *device, enum bc_memory memory,
                      size_t bytes, bool image, const char *advice);
void bc_buffer_destroy(struct bc_buffer *buffer);

/* A buffer in host memory of the caller's, who frees it. */
struct bc_buffer bc_buffer_in(void *memory, size_t bytes);

/* Moves the buffer to memory that is allocated now, and frees the former: `start` changes, what the
   buffer holds doesn't. MPI must not be using it. */
void bc_buffer_renew(struct bc_buffer *buffer);

/* Fills the first `bytes` bytes from the image: where the device can, by a kernel, as a program
   fills its buffers. MPI may read them on return: the kernel has ended. */
void bc_buffer_write(struct bc_buffer *buffer, size_t bytes);

/* Reads the first `bytes` bytes into the image by a copy. False if a kernel sees other data there
   than the copy has. */
bool bc_buffer_read(struct bc_buffer *buffer, size_t bytes);

/* Copies the first `bytes` bytes between two buffers of one device, as bc_device_copy does. */
static inline void bc_buffer_copy(const struct bc_buffer *to, const struct bc_buffer *from,
                                  size_t bytes)
{
    bc_device_copy(to->device, to->start, from->start, bytes);
}
