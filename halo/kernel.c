/* SPDX-License-Identifier: BSD-3-Clause */
#include "halo/halo.h"

#include "common/clock/clock.h"

struct bc_span halo_time_swaps(const struct halo_exchange *exchange, int64_t repetitions)
{
    void (*const swap)(const struct halo_exchange *) = exchange->method->swap;
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++)
        swap(exchange);
    return (struct bc_span){start_ns, bc_now_ns()};
}
