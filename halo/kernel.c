#include "halo/halo.h"

#include "common/clock/clock.h"

double halo_swap_often(const struct halo_exchange *exchange, int64_t repetitions,
                       struct bc_start_window *window, int quantity)
{
    void (*const swap)(const struct halo_exchange *) = exchange->method->swap;
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++)
        swap(exchange);
    return bc_start_window_time(window, quantity, start_ns, bc_now_ns());
}
