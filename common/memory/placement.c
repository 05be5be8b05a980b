/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/memory/placement.h"

#include "common/mpi/mpi_check.h"
#include "common/stats/random.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size of huge pages on most machines. */
#define HUGE_BYTES ((size_t)2 << 20)

static struct bc_placement placement = BC_PLACEMENT_OF_MALLOC;
static bool wants_huge, has_looked, lacks_huge;

void bc_place_buffers(const struct bc_placement *of) { placement = *of; }

void bc_use_huge_pages(void) { wants_huge = true; }

bool bc_huge_pages_are_missing(void) { return lacks_huge; }

/* Returns a random number. Launches and ranks draw different numbers. */
static uint64_t draw(void)
{
    static uint64_t state;
    if (state == 0 && getentropy(&state, sizeof state) != 0)
        state = (uint64_t)getpid();
    return bc_random_next(&state);
}

/* Returns true if the memory around an address has huge pages, or if that isn't known. */
static bool has_huge_pages(const void *address)
{
    FILE *const maps = fopen("/proc/self/smaps", "r");
    char line[512], *rest;
    long kib = 1;
    bool is_around = false;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        const uintptr_t first = strtoul(line, &rest, 16);
        if (*rest == '-') /* FIRST-END of the following lines */
            is_around =
                (uintptr_t)address >= first && (uintptr_t)address < strtoul(rest + 1, NULL, 16);
        else if (is_around && strncmp(line, "AnonHugePages:", 14) == 0)
            kib = strtol(line + 14, NULL, 10);
    }
    if (maps != NULL)
        (void)fclose(maps);
    return kib > 0;
}

/* Fills a block with zeros, in huge pages if they are wanted. */
static void touch(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (wants_huge)
        (void)madvise(block, bytes, MADV_HUGEPAGE);
#endif
    memset(block, 0, bytes);
    if (wants_huge && !has_looked) {
        lacks_huge = !has_huge_pages(block);
        has_looked = true;
    }
}

/* In front of a buffer is the address of its block, which free needs. */
void *bc_allocate_buffer(size_t bytes, const char *format, ...)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = placement.multiple > page ? placement.multiple : page;
    const size_t unit = wants_huge && room < HUGE_BYTES ? HUGE_BYTES : room;
    const size_t needed = room + bytes + room;
    const size_t whole = (needed + unit - 1) / unit * unit;
    char *const block = bytes <= PTRDIFF_MAX / 2 ? aligned_alloc(unit, whole) : NULL;
    if (block == NULL) {
        char message[256];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
        bc_abort("%s", message);
    }
    touch(block, whole);
    const size_t number = (size_t)(draw() % (room / placement.multiple));
    char *const start = block + room + number * placement.multiple + placement.offset;
    memcpy(start - sizeof block, &block, sizeof block);
    return start;
}

void bc_free_buffer(void *buffer)
{
    char *block;
    if (buffer == NULL)
        return;
    memcpy(&block, (char *)buffer - sizeof block, sizeof block);
    free(block);
}
