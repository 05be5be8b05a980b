/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/stops.h"

#include "common/clock/clock.h"

/* The usual step between readings is the shortest of this number of steps. */
#define STEPS 32
#define LONG_STEPS 10

/* A clock that doesn't move in STILL_READINGS readings stands still, as on a simulated machine. */
#define STILL_READINGS 1000

/* Reads the clock until it moves, since a coarse clock stands still between its steps. Returns
   false if it never moves. */
static bool step(int64_t *now_ns)
{
    const int64_t last_ns = *now_ns;
    for (int i = 0; i < STILL_READINGS && *now_ns == last_ns; i++)
        *now_ns = bc_now_ns();
    return *now_ns != last_ns;
}

void bc_stops_watch(struct bc_stops *stops, double seconds)
{
    const int64_t start_ns = bc_now_ns();
    const int64_t end_ns = start_ns + (int64_t)(seconds * 1e9);
    int64_t now_ns = start_ns, last_ns = start_ns;
    int64_t step_ns = end_ns - start_ns;
    for (int i = 0; i < STEPS && now_ns < end_ns && step(&now_ns); i++) {
        if (now_ns - last_ns < step_ns)
            step_ns = now_ns - last_ns;
        last_ns = now_ns;
    }
    const int64_t gap_ns = LONG_STEPS * step_ns > BC_STOP_NS ? LONG_STEPS * step_ns : BC_STOP_NS;
    const int64_t begin_ns = now_ns;
    while (now_ns < end_ns && step(&now_ns)) {
        if (now_ns - last_ns > gap_ns)
            stops->lost_ns += now_ns - last_ns - step_ns;
        last_ns = now_ns;
    }
    stops->watched_ns += now_ns - begin_ns;
}
