#include "syncbench/measure.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/stats/singles.h"
#include "common/clock/work.h"

#include <math.h>

/* The loop takes about this long, or so many times what the clock costs, if it may
   shrink: long against the clock, and seldom interrupted (a virtual machine may be
   15,000 times a second). */
#define LOOP_NS 5000.0
#define LOOP_CLOCKS 100.0

/* ... and this where ranks take turns, which is all repetitions but for slow ones: the
   first who has the lock, and the order in which the others follow, must not count. */
#define TURNS_NS 10e6

/* A sample farther from the value than so many sd is an outlier; the specification's
   interval is so many sd to either side. */
#define OUTLIER_SD 3.0
#define INTERVAL_SD 1.96

/* ---- the timed loops ------------------------------------------------------------------------- */

/* Where a barrier lets the ranks go this does nothing: it was before the
   synchronisation that isn't timed. */
static void start(const struct syncbench_loop *loop)
{
    if (loop->window != NULL)
        bc_start_window_wait(loop->window);
}

/* The delay, then the synchronisation. One synchronisation comes before the time
   starts: so the ranks come out of it as they do out of all that follow, and not as
   they come out of the barrier before the loop. */
static double time_delays(const struct syncbench_loop *loop, int quantity, syncbench_fn *enter,
                          syncbench_fn *leave)
{
    struct syncbench_team *const team = loop->team;
    const int64_t repetitions = loop->inner;
    const uint64_t units = loop->delay_units;
    enter(team);
    leave(team);
    start(loop);
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        bc_work(units);
        enter(team);
        leave(team);
    }
    return bc_start_window_time(loop->window, quantity, start_ns, bc_now_ns());
}

/* The delay inside. From the barrier on, since who comes first may keep the lock as
   long as it has turns, and the others wait from the start: the slowest rank's time
   is that of all turns, in whatever order they come. */
static double time_turns(const struct syncbench_loop *loop, int quantity, syncbench_fn *enter,
                         syncbench_fn *leave, int64_t repetitions)
{
    struct syncbench_team *const team = loop->team;
    const uint64_t units = loop->delay_units;
    start(loop);
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        enter(team);
        bc_work(units);
        leave(team);
    }
    return bc_start_window_time(loop->window, quantity, start_ns, bc_now_ns());
}

double syncbench_time_loop(const struct syncbench_loop *loop)
{
    const struct syncbench_kind *const kind = loop->kind;
    if (kind->set == SYNCBENCH_TURNS)
        return time_turns(loop, SYNCBENCH_LOOP, kind->enter, kind->leave,
                          loop->inner / loop->ranks);
    return time_delays(loop, SYNCBENCH_LOOP, kind->enter, kind->leave);
}

/* Where ranks take turns, rank 0 does all of them. */
double syncbench_time_reference(const struct syncbench_loop *loop)
{
    if (loop->kind->set != SYNCBENCH_TURNS)
        return time_delays(loop, SYNCBENCH_REFERENCE, syncbench_nothing, syncbench_nothing);
    return time_turns(loop, SYNCBENCH_REFERENCE, syncbench_nothing, syncbench_nothing,
                      loop->rank == 0 ? loop->inner : 0);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void release(const struct syncbench_loop *loop)
{
    if (loop->window == NULL)
        bc_harness_release(MPI_COMM_WORLD);
}

static void take_in_turn(void *context, double *values)
{
    const struct syncbench_loop *const loop = context;
    release(loop);
    const double reference_ns = syncbench_time_reference(loop);
    release(loop);
    const double loop_ns = syncbench_time_loop(loop);
    values[SYNCBENCH_LOOP] = loop_ns / (double)loop->inner;
    values[SYNCBENCH_REFERENCE] = reference_ns / (double)loop->inner;
}

/* A multiple of the ranks where these take turns. */
static int64_t whole_turns(const struct syncbench_loop *loop, double repetitions)
{
    const int64_t step = loop->kind->set == SYNCBENCH_TURNS ? loop->ranks : 1;
    const int64_t steps = (int64_t)(repetitions / (double)step);
    return step * (steps > 0 ? steps : 1);
}

/* The slowest rank's time of the loop. Collective. */
static double slowest_ns(const struct syncbench_loop *loop)
{
    release(loop);
    double ns = syncbench_time_loop(loop);
    bc_harness_allreduce(MPI_IN_PLACE, &ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return ns;
}

/* Twice, since once it may have been disturbed. */
static bool is_long(const struct syncbench_loop *loop, double long_ns)
{
    return slowest_ns(loop) >= long_ns && slowest_ns(loop) >= long_ns;
}

/* The repetitions that make the loop long against the clock, doubled from the least
   on up to the loop's own. Collective; the same on every rank. */
static int64_t enough_repetitions(const struct bc_run *run, const struct syncbench_loop *loop)
{
    const bool turns = loop->kind->set == SYNCBENCH_TURNS;
    const double long_ns = fmax(turns ? TURNS_NS : LOOP_NS, LOOP_CLOCKS * run->max_clock.read_ns);
    const int64_t most = whole_turns(loop, (double)loop->inner);
    struct syncbench_loop tried = *loop;
    tried.inner = whole_turns(loop, 1.0);
    while (tried.inner < most && !is_long(&tried, long_ns))
        tried.inner *= 2;
    return tried.inner < most ? tried.inner : most;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int64_t count_outliers(const struct bc_samples *samples, const struct bc_summary *summary)
{
    int64_t outliers = 0;
    for (size_t i = 0; i < samples->count; i++)
        outliers += fabs(samples->values[0][i] - summary->value) > OUTLIER_SD * summary->sd;
    return outliers;
}

static struct bc_source source_of(const struct bc_run *run, struct syncbench_loop *loop)
{
    return (struct bc_source){
        .quantities = SYNCBENCH_QUANTITIES,
        .take = take_in_turn,
        .context = loop,
        .starts = bc_start_window_starts(loop->window),
        .repetitions = loop->inner,
        .clock_ns = run->own_clock.read_ns / (double)loop->inner,
    };
}

void syncbench_measure(const struct bc_run *run, struct bc_sampler *sampler,
                       const struct syncbench_loop *loop, bool shrinks, double seconds,
                       struct syncbench_result *result)
{
    const double start_s = bc_elapsed_s();
    struct syncbench_loop sampled = *loop;
    sampled.inner =
        shrinks ? enough_repetitions(run, loop) : whole_turns(loop, (double)loop->inner);
    struct syncbench_loop single = *loop;
    single.inner = whole_turns(loop, 1.0);
    const struct bc_source loops = source_of(run, &sampled);
    const struct bc_source singles = source_of(run, &single);
    const double left_s = fmax(0.0, seconds - (bc_elapsed_s() - start_s));
    *result = (struct syncbench_result){.inner = sampled.inner};
    result->in_time =
        sampled.inner > single.inner
            ? bc_sample_with_singles(run, sampler, &loops, &singles, true, left_s, &result->sync)
            : bc_run_sample_difference(run, sampler, &loops, left_s, &result->sync);
    const struct bc_samples *const samples = bc_sampler_samples(sampler);
    result->outer = (int64_t)samples->count;
    result->slowest_rank = bc_sampler_slowest_rank(sampler);
    if (run->job.rank != 0)
        return;
    bc_run_dump(run, "loop", samples->values[0], samples->count);
    bc_run_dump(run, "reference", samples->values[1], samples->count);
    result->loop = bc_run_summarize(run, samples, 0);
    result->reference = bc_run_summarize(run, samples, 1);
    result->outliers = count_outliers(samples, &result->loop);
    if (run->settings.estimator == BC_MEAN) {
        const double error_ns = INTERVAL_SD * (result->loop.sd + result->reference.sd);
        result->sync.interval.lo = result->sync.value - error_ns;
        result->sync.interval.hi = result->sync.value + error_ns;
    }
}
