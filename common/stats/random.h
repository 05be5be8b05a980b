/* SPDX-License-Identifier: BSD-3-Clause */
/* Pseudo-random numbers for choices that all ranks make alike: they depend on the state alone. */
#pragma once

#include <stdint.h>

/* Returns the next number: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
   Generators", OOPSLA 2014). */
static inline uint64_t bc_random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
