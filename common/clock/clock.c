#include "common/clock/clock.h"

#include "common/clock/ticks.h"
#include "common/stats/stats.h"

#include <mpi.h>

/* How long the rate of the time stamp counter is measured. */
enum { MEASURE_TICK_NS = 20000000 };

static int64_t read_wtime(void) { return (int64_t)(MPI_Wtime() * 1e9); }

int64_t (*bc_clock_read)(void) = bc_source_monotonic_ns;

/* Nanoseconds a tick, as a fixed-point number with 32 fractional bits. */
static uint64_t tsc_ns_per_tick;
static uint64_t tsc_origin;

static int64_t read_tsc(void)
{
    return (int64_t)((unsigned __int128)(bc_source_ticks() - tsc_origin) * tsc_ns_per_tick >> 32);
}

static bool select_tsc(void)
{
    if (!bc_source_has_ticks())
        return false;
    const struct bc_moment origin = bc_moment_now(bc_source_ticks);
    const double tick_ns = bc_tick_ns(&origin, MEASURE_TICK_NS, bc_source_ticks);
    tsc_ns_per_tick = (uint64_t)(tick_ns * 4294967296.0 + 0.5);
    tsc_origin = origin.ticks;
    bc_clock_read = read_tsc;
    return true;
}

bool bc_clock_select(enum bc_clock_kind kind)
{
    if (kind == BC_CLOCK_TSC)
        return select_tsc();
    if (kind != BC_CLOCK_MONOTONIC && kind != BC_CLOCK_WTIME)
        return false;
    bc_clock_read = kind == BC_CLOCK_WTIME ? read_wtime : bc_source_monotonic_ns;
    return true;
}

double bc_elapsed_s(void) { return (double)bc_source_monotonic_ns() * 1e-9; }

/* Takes the smallest step above 0 of a few readings into account. */
static void see_steps(int64_t *step_ns)
{
    enum { READS = 40 };
    int64_t last_ns = bc_now_ns();
    for (int i = 0; i < READS; i++) {
        const int64_t now_ns = bc_now_ns();
        if (now_ns > last_ns && now_ns - last_ns < *step_ns)
            *step_ns = now_ns - last_ns;
        last_ns = now_ns;
    }
}

struct bc_clock_cost bc_clock_measure(void)
{
    /* A clock that hasn't moved in STILL_BATCHES batches stands still, as simulated time does; then
       the rest, which a thousand simulated ranks would read in turn, is left out. */
    enum { BATCHES = 101, READS = 400, STILL_BATCHES = 3 };
    double read_ns[BATCHES];
    int64_t step_ns = INT64_MAX, moved_ns = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        /* Nothing but readings: to look at each adds 5 % to what it takes. */
        const int64_t start_ns = bc_now_ns();
        for (int i = 1; i < READS; i++)
            bc_now_ns();
        const int64_t taken_ns = bc_now_ns() - start_ns;
        read_ns[batch] = (double)taken_ns / READS;
        moved_ns += taken_ns;
        see_steps(&step_ns);
        if (batch + 1 == STILL_BATCHES && moved_ns == 0 && step_ns == INT64_MAX)
            return (struct bc_clock_cost){0.0, 0.0};
    }
    return (struct bc_clock_cost){
        .read_ns = bc_median(read_ns, BATCHES),
        .resolution_ns = step_ns == INT64_MAX ? 0.0 : (double)step_ns,
    };
}

/* ---- interruptions --------------------------------------------------------------------------- */

/* The usual step between readings is the shortest of this number of steps. */
#define STEPS 32
#define LONG_STEPS 10

/* A clock that doesn't move in STILL_READINGS readings stands still, as on a simulated machine. */
#define STILL_READINGS 1000

/* Reads the clock until it moves: a coarse one stands still between its steps. False if it doesn't.
 */
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
