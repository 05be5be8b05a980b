#include "syncbench/syncbench.h"

#include "common/mpi/harness.h"

#include <math.h>

/* The loop takes about this long, or longer where the clock is slow, if it may shrink: it is seldom
   interrupted then (a virtual machine may be 15,000 times a second). */
#define LOOP_NS 5000.0

/* ... and this long where ranks take turns, which is all repetitions but for slow ones: the rank
   that has the lock first, and the order in which the others follow, must not count. */
#define TURNS_NS 10e6

/* The number of sd from the value beyond which a sample is an outlier; and the half-width of the
   specification's interval in sd. */
#define OUTLIER_SD 3.0
#define INTERVAL_SD 1.96

/* ---- samples --------------------------------------------------------------------------------- */

static void release(const struct syncbench_loop *loop)
{
    if (loop->run->window == NULL)
        bc_harness_release(MPI_COMM_WORLD);
}

static void take_in_turn(void *context, double *values)
{
    const struct syncbench_loop *const loop = context;
    release(loop);
    values[SYNCBENCH_REFERENCE] = syncbench_time_reference(loop) / (double)loop->inner;
    release(loop);
    values[SYNCBENCH_LOOP] = syncbench_time_loop(loop) / (double)loop->inner;
}

/* `repetitions`, where ranks take turns lowered to a multiple of the ranks; at least one turn. */
static int64_t whole_turns(const struct syncbench_loop *loop, int64_t repetitions)
{
    const int64_t step = loop->kind->set == SYNCBENCH_TURNS ? loop->run->job.ranks : 1;
    const int64_t steps = repetitions / step;
    return step * (steps > 0 ? steps : 1);
}

/* The slowest rank's time of the loop. Collective. */
static double slowest_ns(void *context, int64_t repetitions)
{
    struct syncbench_loop *const loop = context;
    loop->inner = repetitions;
    release(loop);
    double ns = syncbench_time_loop(loop);
    bc_harness_allreduce(MPI_IN_PLACE, &ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return ns;
}

/* The number of repetitions that make the loop long against the clock: doubled from the minimum on,
   up to the loop's own. Collective; the same on every rank. */
static int64_t enough_repetitions(const struct syncbench_loop *loop)
{
    const double min_ns = loop->kind->set == SYNCBENCH_TURNS ? TURNS_NS : LOOP_NS;
    struct syncbench_loop tried = *loop;
    return bc_batch_double(whole_turns(loop, 1), whole_turns(loop, loop->inner),
                           bc_batch_ns(&loop->run->max_clock, min_ns), slowest_ns, &tried);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct bc_source source_of(struct syncbench_loop *loop)
{
    return (struct bc_source){
        .quantities = SYNCBENCH_QUANTITIES,
        .take = take_in_turn,
        .context = loop,
        .starts = bc_run_starts(loop->run),
        .starts_apart = loop->kind->set != SYNCBENCH_TURNS && loop->run->window == NULL,
        .repetitions = loop->inner,
        .clock_ns = loop->run->own_clock.read_ns / (double)loop->inner,
    };
}

void syncbench_visit(const struct syncbench_loop *loop, bool shrinks, double seconds,
                     struct syncbench_row *row)
{
    struct bc_batch_row *const loops = &row->loops;
    const double start_s = bc_elapsed_s();
    struct syncbench_loop sampled = *loop, single = *loop;
    if (loops->repetitions == 0)
        loops->repetitions = shrinks ? enough_repetitions(loop) : whole_turns(loop, loop->inner);
    sampled.inner = loops->repetitions;
    single.inner = whole_turns(loop, 1);
    const struct bc_source many = source_of(&sampled), one = source_of(&single);
    const double left_s = fmax(0.0, seconds - (bc_elapsed_s() - start_s));
    bc_sample_with_singles(loop->run, &many, sampled.inner > single.inner ? &one : NULL,
                           SYNCBENCH_REFERENCE, left_s, loops);
}

/* Fills in what the samples say. */
static void summarize(const struct bc_run *run, const struct syncbench_row *row,
                      struct syncbench_result *result)
{
    const struct bc_samples *const samples = &row->loops.batches;
    bc_run_dump(run, "loop", samples, SYNCBENCH_LOOP);
    bc_run_dump(run, "reference", samples, SYNCBENCH_REFERENCE);
    result->loop = bc_run_summarize(run, samples, SYNCBENCH_LOOP, -1);
    result->reference = bc_run_summarize(run, samples, SYNCBENCH_REFERENCE, -1);
    result->sync = bc_batch_summarize(run, &row->loops, SYNCBENCH_REFERENCE);
    /* The loops don't run quite the same code besides the synchronisation, so the interval ends no
       closer to the value than what one reading of the clock is worth. */
    const double reading_ns = run->max_clock.read_ns / (double)row->loops.repetitions;
    result->sync.interval.lo -= reading_ns;
    result->sync.interval.hi += reading_ns;
    result->outcome =
        bc_run_outcome(run, samples, bc_batch_is_precise(run, &row->loops, SYNCBENCH_REFERENCE));
    for (size_t i = 0; i < samples->count; i++)
        result->outliers += fabs(samples->values[SYNCBENCH_LOOP][i] - result->loop.value) >
                            OUTLIER_SD * result->loop.sd;
    if (run->settings.estimator == BC_MEAN) {
        const double error_ns = INTERVAL_SD * (result->loop.sd + result->reference.sd);
        result->sync.interval.lo = result->sync.value - error_ns;
        result->sync.interval.hi = result->sync.value + error_ns;
    }
}

void syncbench_conclude(const struct bc_run *run, struct syncbench_row *row,
                        struct syncbench_result *result)
{
    *result = (struct syncbench_result){.inner = row->loops.repetitions};
    if (run->job.rank == 0)
        summarize(run, row, result);
    bc_samples_free(&row->loops.batches);
    bc_samples_free(&row->loops.singles);
}
