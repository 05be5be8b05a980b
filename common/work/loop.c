/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/work/work.h"

/* Knuth's MMIX multiplier; any odd constant would do. */
#define STEP_MULTIPLIER UINT64_C(6364136223846793005)

__attribute__((noinline)) uint64_t bc_work(uint64_t units)
{
    /* In registers even without optimisation: memory between two steps would take varying time. */
    register uint64_t value = units | 1;
    for (register uint64_t i = 0; i < units; i++) {
        value = value * STEP_MULTIPLIER + 1;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}
