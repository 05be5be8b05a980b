/* The timed loop. */
#pragma once

#include "common/sync_clock/start_window.h"
#include "halo/swap/methods.h"

/* Swaps halos `repetitions` times; returns the time in ns, quantity 0 of bc_start_window_time.
   `window` is NULL without --start=window. Collective. */
double halo_swap_often(const struct halo_method *method, const struct halo_exchange *exchange,
                       int64_t repetitions, struct bc_start_window *window);
