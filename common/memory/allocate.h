/* Memory, or the end of the job. All functions are local. */
#pragma once

#include <stddef.h>

/* Allocates `count` elements of zeros; never NULL, also for no elements. Without memory ends the
   job with the message that printf makes of `format`. The caller frees it. */
void *bc_allocate(size_t count, size_t element_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Gives memory of bc_allocate (NULL: new memory) another number of elements. Those that are added
   aren't set. Otherwise as bc_allocate. */
void *bc_reallocate(void *memory, size_t count, size_t element_bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Allocates whole pages, at least one, that hold `bytes` bytes, on a page boundary and filled with
   zeros, so that the first access in a timed region finds every page in place. Otherwise as
   bc_allocate. */
void *bc_allocate_pages(size_t bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
