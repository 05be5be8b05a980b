/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that a program itself allocates: with VIRTUAL_MEMORY=FILE that file gets what rank 0
   has at most, in bytes. The linker sends the program's calls here (--wrap). */
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t now_bytes, most_bytes;

static void report(void)
{
    const char *const path = getenv("VIRTUAL_MEMORY");
    FILE *const file = path != NULL && world_rank == 0 ? fopen(path, "w") : NULL;
    if (file == NULL)
        return;
    (void)fprintf(file, "%lld\n", (long long)most_bytes);
    (void)fclose(file);
}

static void *taken(void *memory)
{
    static bool reports;
    now_bytes += (int64_t)malloc_usable_size(memory);
    most_bytes = now_bytes > most_bytes ? now_bytes : most_bytes;
    if (!reports && world != NULL) { /* before what ends the process, which MPI_Init registers */
        reports = true;
        (void)atexit(report);
    }
    return memory;
}

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker's names */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return taken(__real_malloc(size)); }

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) { return taken(__real_calloc(count, size)); }

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return taken(__real_aligned_alloc(alignment, size));
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
    now_bytes -= (int64_t)malloc_usable_size(memory);
    return taken(__real_realloc(memory, size));
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    const size_t bytes = malloc_usable_size(memory);
    now_bytes -= (int64_t)bytes;
    data_forget(memory, bytes);
    __real_free(memory);
}

/* NOLINTEND(clang-diagnostic-reserved-identifier) */
