#include "common/stats/batch.h"

#include "common/mpi/harness.h"
#include "common/stats/singles.h"

#include <math.h>

/* A batch takes about this long, or so many times what the clock costs. */
#define BATCH_NS 20000.0
#define BATCH_CLOCKS 100.0
#define BATCH_REPETITIONS_MAX 10000

/* Lets the ranks that have a part in a batch begin. */
static void release(const struct bc_batch *batch)
{
    const MPI_Comm players = batch->players != NULL ? *batch->players : MPI_COMM_WORLD;
    if (players != MPI_COMM_NULL)
        bc_harness_release(players);
}

/* The repetitions that make a batch long against the clock, if one takes so
   long. */
static int64_t repetitions_of(const struct bc_run *run, double ns)
{
    const double batch_ns = fmax(BATCH_NS, BATCH_CLOCKS * run->max_clock.read_ns);
    const double repetitions = ceil(batch_ns / fmax(ns, 1.0));
    return repetitions > BATCH_REPETITIONS_MAX ? BATCH_REPETITIONS_MAX : (int64_t)repetitions;
}

/* The slowest rank's time of a repetition in a batch of so many, the quicker one of
   two batches, since either may have been disturbed. Collective. */
static double repetition_ns(const struct bc_batch *batch, int64_t repetitions)
{
    double ns = INFINITY;
    for (int i = 0; i < 2; i++) {
        release(batch);
        double mine = batch->repeat(batch->context, repetitions);
        bc_harness_allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        ns = fmin(ns, mine / (double)repetitions);
    }
    return ns;
}

/* The repetitions that make a batch long against the clock, tried with ever more of
   them until they are. Collective; the same on every rank. */
static int64_t batch_length(const struct bc_run *run, const struct bc_batch *batch)
{
    int64_t tried = 1;
    for (;;) {
        const int64_t enough = repetitions_of(run, repetition_ns(batch, tried));
        if (enough <= 2 * tried)
            return enough;
        /* What one repetition takes says little of how long many take. */
        tried = enough < 8 * tried ? enough : 8 * tried;
    }
}

struct round {
    const struct bc_batch *batch;
    int64_t repetitions;
    bool leads_in; /* with a repetition that isn't timed */
};

static void take_batch(void *context, double *values)
{
    const struct round *const round = context;
    const struct bc_batch *const batch = round->batch;
    if (batch->window == NULL)
        release(batch);
    /* Ranks come out of the first repetition as they do out of all that follow, and
       not as they come out of the barrier. */
    if (round->leads_in)
        (void)batch->repeat(batch->context, 1);
    if (batch->window != NULL)
        bc_start_window_wait(batch->window);
    const double ns = batch->repeat(batch->context, round->repetitions);
    values[0] = ns == BC_NO_PART ? -INFINITY : ns / (double)round->repetitions;
}

static struct bc_source source_of(const struct bc_run *run, struct round *round)
{
    return (struct bc_source){
        .quantities = 1,
        .take = take_batch,
        .context = round,
        .starts = bc_start_window_starts(round->batch->window),
        .repetitions = round->repetitions,
        .clock_ns =
            round->batch->clock_readings * run->own_clock.read_ns / (double)round->repetitions,
    };
}

/*
 * batch_length for oversubscribed jobs, where a repetition may take longer
 * than a batch should, and the first one all the time that there is: it is a
 * sample. 0 if there is no time for another one, so that it has to do. Else the
 * second of two counts, as the first may have waited for a processor. On rank 0
 * *seconds becomes what is left of it, 0 if that is too little for a round.
 */
static int64_t shared_batch_length(const struct bc_run *run, const struct bc_batch *batch,
                                   double *seconds)
{
    struct round round = {batch, 1, false};
    const struct bc_source source = source_of(run, &round);
    const struct bc_plan one_round = {.min_rounds = 1, .max_rounds = 1, .deadline_s = INFINITY};
    int64_t agreed[2] = {0, 1}; /* repetitions, whether to take another */
    for (int i = 0; i < 2 && agreed[1] != 0; i++) {
        const double start_s = bc_elapsed_s();
        bc_sampler_run(run->sampler, &source, &one_round);
        if (run->job.rank == 0) {
            const double round_s = bc_elapsed_s() - start_s;
            *seconds -= round_s;
            if (*seconds < round_s)
                *seconds = 0.0;
            agreed[0] = repetitions_of(run, bc_sampler_samples(run->sampler)->values[0][0]);
            agreed[1] = agreed[0] == 1 && *seconds > 0.0;
            if (agreed[0] == 1 && *seconds == 0.0)
                agreed[0] = 0;
        }
        bc_harness_bcast(agreed, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    }
    return agreed[0];
}

void bc_batch_measure(const struct bc_run *run, const struct bc_batch *batch, double seconds,
                      struct bc_batch_result *result)
{
    const double start_s = bc_elapsed_s();
    struct round round = {batch, batch->repetitions, false};
    double left_s = seconds;
    bool in_time = true;
    *result = (struct bc_batch_result){0};
    if (batch->repetitions == 0 && run->job.oversubscribed) {
        round.repetitions = shared_batch_length(run, batch, &left_s);
    } else if (batch->repetitions == 0) {
        round.repetitions = batch_length(run, batch);
        left_s = fmax(0.0, seconds - (bc_elapsed_s() - start_s));
    }
    if (round.repetitions > 1) {
        struct round one = {batch, 1, true};
        round.leads_in = true;
        const struct bc_source batches = source_of(run, &round);
        const struct bc_source singles = source_of(run, &one);
        in_time = bc_sample_with_singles(run, &batches, &singles, false, left_s, &result->repetition);
    } else if (round.repetitions == 1) {
        const struct bc_source source = source_of(run, &round);
        in_time = bc_run_sample(run, &source, left_s, &result->repetition);
    } else {
        round.repetitions = 1;
        in_time = run->settings.samples == 1;
        if (run->job.rank == 0)
            result->repetition = bc_run_summarize(run, bc_sampler_samples(run->sampler), 0);
    }
    const struct bc_samples *const samples = bc_sampler_samples(run->sampler);
    for (size_t i = 0; i < samples->count; i++)
        result->total_s += samples->values[0][i] * (double)round.repetitions * 1e-9;
    result->repetitions = (int64_t)samples->count * round.repetitions;
    result->outcome = bc_run_outcome(run, in_time);
    bc_run_dump(run, batch->quantity, samples->values[0], samples->count);
}
