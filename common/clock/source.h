/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source of time. Tests link other definitions of these functions and of bc_work, with virtual
 * (tests/virtual) or simulated (tests/programs/simulation) time. All functions are local.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads CLOCK_MONOTONIC. */
int64_t bc_source_monotonic_ns(void);

/* Returns true if there is a time stamp counter with a constant rate in every power state. */
bool bc_source_has_ticks(void);

/* Reads that counter, after all earlier instructions and before all later ones. */
uint64_t bc_source_ticks(void);

/* Returns false if time is virtual or simulated, so that rates of the hardware mean nothing. */
bool bc_source_has_hardware(void);

/* Sleeps for `ns` nanoseconds; a signal ends the sleep earlier. */
void bc_sleep_ns(int64_t ns);
