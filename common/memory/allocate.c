/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/memory/allocate.h"

#include "common/mpi/mpi_check.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ends the job if there is no memory. */
static void require(const void *memory, const char *format, va_list arguments)
{
    char message[256];
    if (memory != NULL)
        return;
    vsnprintf(message, sizeof message, format, arguments);
    bc_abort("%s", message);
}

void *bc_allocate(size_t count, size_t element_bytes, const char *format, ...)
{
    void *const memory = calloc(count > 0 ? count : 1, element_bytes);
    va_list arguments;
    va_start(arguments, format);
    require(memory, format, arguments);
    va_end(arguments);
    return memory;
}

void *bc_reallocate(void *memory, size_t count, size_t element_bytes, const char *format, ...)
{
    const bool fits = count <= PTRDIFF_MAX / element_bytes;
    void *const grown = fits ? realloc(memory, count > 0 ? count * element_bytes : 1) : NULL;
    va_list arguments;
    va_start(arguments, format);
    require(grown, format, arguments);
    va_end(arguments);
    return grown;
}

void *bc_allocate_pages(size_t bytes, const char *format, ...)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = bytes / page + (bytes % page > 0 || bytes == 0);
    void *const memory = bytes <= PTRDIFF_MAX ? aligned_alloc(page, pages * page) : NULL;
    if (memory != NULL)
        memset(memory, 0, pages * page);
    va_list arguments;
    va_start(arguments, format);
    require(memory, format, arguments);
    va_end(arguments);
    return memory;
}
