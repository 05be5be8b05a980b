/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message buffers in host memory. Addresses affect times, so each allocation draws a new address:
 * a random multiple of some bytes, within a page if that is larger. All functions are local.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Buffers begin `offset` bytes after a multiple of `multiple`, a power of two. */
struct bc_placement {
    size_t multiple, offset;
};

/* The addresses of malloc: any multiple of 16. */
#define BC_PLACEMENT_OF_MALLOC                                                                     \
    {                                                                                              \
        .multiple = 16                                                                             \
    }

/* Sets the placement of buffers that are allocated from now on; the default is that of malloc. */
void bc_place_buffers(const struct bc_placement *placement);

/* Asks the kernel for huge pages for buffers that are allocated from now on. */
void bc_use_huge_pages(void);

/* Returns true if the kernel gave the first of these buffers no huge page. */
bool bc_huge_pages_are_missing(void);

/* Allocates a buffer of zeros, whose pages hold no other memory. Never returns NULL: if memory runs
   out, ends the job with the message of `format`. */
void *bc_allocate_buffer(size_t bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees such a buffer, or does nothing with NULL. */
void bc_free_buffer(void *buffer);
