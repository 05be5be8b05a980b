/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory allocation. Never returns NULL, even for no elements: if memory runs out, ends the job
   with the message of `format`. The caller frees the memory. All functions are local. */
#pragma once

#include <stddef.h>

/* Allocates `count` elements, all zero. */
void *bc_allocate(size_t count, size_t element_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Changes the number of elements of memory from bc_allocate, or allocates if it is NULL. New
   elements aren't set. */
void *bc_reallocate(void *memory, size_t count, size_t element_bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Allocates whole pages of zeros for `bytes` bytes, on a page boundary, so that no timed region
   touches a page first. */
void *bc_allocate_pages(size_t bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
