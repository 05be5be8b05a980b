/*
 * A library to be preloaded that shifts and stretches CLOCK_MONOTONIC on ranks of odd numbers, as
 * the launcher counts them: by CLOCK_SHIFT_NS, and by CLOCK_DRIFT_PPM from its first reading on;
 * and a reading takes CLOCK_COST_NS there. Sleeping till a time isn't adjusted.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

typedef int clock_gettime_fn(clockid_t clock, struct timespec *time);

static clock_gettime_fn *next;
static bool shifts;
static int64_t origin_ns, shift_ns, cost_ns;
static double drift;

static int64_t nanoseconds(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const ranks[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK"};
    *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *const rank = getenv(ranks[i]);
        shifts = shifts || (rank != NULL && strtol(rank, NULL, 10) % 2 == 1);
    }
    const char *const shift = getenv("CLOCK_SHIFT_NS");
    const char *const ppm = getenv("CLOCK_DRIFT_PPM");
    const char *const cost = getenv("CLOCK_COST_NS");
    cost_ns = cost != NULL ? strtoll(cost, NULL, 10) : 0;
    shift_ns = shift != NULL ? strtoll(shift, NULL, 10) : 0;
    drift = ppm != NULL ? strtod(ppm, NULL) * 1e-6 : 0.0;
    struct timespec now;
    next(CLOCK_MONOTONIC, &now);
    origin_ns = nanoseconds(&now);
}

static void spin_until(int64_t end_ns)
{
    struct timespec now;
    do
        next(CLOCK_MONOTONIC, &now);
    while (nanoseconds(&now) < end_ns);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (next == NULL)
        begin();
    const int status = next(clock, time);
    if (status != 0 || clock != CLOCK_MONOTONIC || !shifts)
        return status;
    const int64_t true_ns = nanoseconds(time);
    const int64_t shifted_ns = true_ns + shift_ns + llround(drift * (double)(true_ns - origin_ns));
    time->tv_sec = shifted_ns / 1000000000;
    time->tv_nsec = shifted_ns % 1000000000;
    if (cost_ns > 0)
        spin_until(true_ns + cost_ns);
    return 0;
}

/* The time that is shown as shifted_ns on this rank. */
int64_t clock_shift_undo(int64_t shifted_ns)
{
    if (!shifts)
        return shifted_ns;
    return origin_ns + llround((double)(shifted_ns - shift_ns - origin_ns) / (1.0 + drift));
}
