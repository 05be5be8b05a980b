/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/clock.h"
#include "common/expected/expected.h"

#include <string.h>

int64_t bc_time_copy(char *to, const char *from, size_t bytes)
{
    const int64_t start_ns = bc_now_ns();
    memcpy(to, from, bytes);
    __asm__ volatile("" : : "r"(to) : "memory"); /* keeps the copy */
    return bc_now_ns() - start_ns;
}
