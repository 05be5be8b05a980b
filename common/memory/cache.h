/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushing the caches, so that a measurement starts with cold ones. All functions are local. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct bc_cache_flush {
    double *values;
    size_t count;      /* number of values; 0: bc_cache_flush_run does nothing */
    size_t line_bytes; /* of a line of the level-1 cache */
};

/* Returns the bytes of a line of this processor's level-1 data cache; 64 if they are not known. */
size_t bc_cache_line_bytes(void);

/* Allocates the buffer, `bytes` rounded down to whole doubles. Returns false if memory runs out. */
bool bc_cache_flush_create(struct bc_cache_flush *flush, size_t bytes);

void bc_cache_flush_destroy(struct bc_cache_flush *flush);

/* Evicts the contents of the caches: computes a[i] = a[i - 1] + 1 over the whole buffer, as
   specified, and reads its lines in scattered order before and after. Takes up to about 1 ms per
   MiB. */
void bc_cache_flush_run(struct bc_cache_flush *flush);
