/* Memory, or the end of the job with the message that printf makes of `format`: never NULL, also
   for no elements. The caller frees it. All functions are local. */
#pragma once

#include <stddef.h>

/* Allocates `count` elements of zeros. */
void *bc_allocate(size_t count, size_t element_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Gives memory of bc_allocate (NULL: new memory) another number of elements. New elements aren't
   set. */
void *bc_reallocate(void *memory, size_t count, size_t element_bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Allocates whole pages of zeros for `bytes` bytes, on a page boundary, so that no timed region
   touches a page first. */
void *bc_allocate_pages(size_t bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
