/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of message buffers. */
#include "helpers.h"

#include "common/memory/placement.h"

#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { BYTES = 100, DRAWS = 400 };

/* Allocates buffers in a placement, whose addresses must be right modulo its multiple. Returns the
   number of different places within `room` bytes. */
static int places_of(size_t multiple, size_t offset, size_t room)
{
    static bool seen[1 << 16];
    static const char zeros[BYTES];
    int places = 0;
    memset(seen, 0, sizeof seen);
    bc_place_buffers(&(struct bc_placement){multiple, offset});
    for (int i = 0; i < DRAWS; i++) {
        char *const buffer = bc_allocate_buffer(BYTES, "no memory");
        const size_t place = (uintptr_t)buffer % room;
        assert_int_equal((uintptr_t)buffer % multiple, offset);
        assert_memory_equal(buffer, zeros, BYTES);
        memset(buffer, 1, BYTES);
        places += !seen[place];
        seen[place] = true;
        bc_free_buffer(buffer);
    }
    return places;
}

/* Every place within a page is drawn, and a larger multiple is kept. */
TEST(placements)
{
    assert_int_equal(places_of(256, 0, 4096), 16);
    assert_int_equal(places_of(256, 8, 4096), 16);
    assert_int_equal(places_of(4096, 0, 4096), 1);
    assert_int_equal(places_of(65536, 24, 65536), 1);
    assert_true(places_of(16, 0, 4096) > 150); /* of 256 */
}

/* The kernel gives this process none. */
TEST(huge_pages)
{
    const bool without = prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0;
    bc_use_huge_pages();
    assert_int_equal(places_of(256, 8, 4096), 16);
    if (without && access("/proc/self/smaps", R_OK) == 0)
        assert_true(bc_huge_pages_are_missing());
    bc_free_buffer(NULL);
}
