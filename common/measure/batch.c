#include "common/measure/batch.h"

#include "common/mpi/harness.h"
#include "common/run/program.h"

#include <math.h>

/* A batch takes about this long, or longer where the clock is slow. */
#define BATCH_NS 20000.0
#define BATCH_CLOCKS 100.0
#define BATCH_REPETITIONS_MAX 10000.0

/* The share of single repetitions in the time of batches and single repetitions. */
#define SINGLES_SHARE 0.1

/* Ten of these lie beyond the 99th percentile. */
#define SINGLES_WANTED 1000

double bc_batch_ns(const struct bc_clock_cost *cost, double min_ns)
{
    return fmax(min_ns, BATCH_CLOCKS * cost->read_ns);
}

int64_t bc_batch_double(int64_t min, int64_t max, double batch_ns, bc_repeat_fn *repeat,
                        void *context)
{
    int64_t repetitions = min;
    while (repetitions < max &&
           !(repeat(context, repetitions) >= batch_ns && repeat(context, repetitions) >= batch_ns))
        repetitions *= 2;
    return repetitions < max ? repetitions : max;
}

/* ---- batches in turn with single repetitions ------------------------------------------------- */

struct singles {
    const struct bc_run *run;
    const struct bc_source *source;
    struct bc_batch_row *row;
    double start_s, spent_s; /* spent on single repetitions so far */
};

/* Takes single repetitions until the visit has `count`, or as many as it may have samples, or
   until they have taken `seconds`; at least one if `needs_one`. Rank 0's arguments count.
   Collective. */
static void take_until(struct singles *singles, int64_t count, double seconds, bool needs_one)
{
    const double start_s = bc_elapsed_s();
    struct bc_plan plan = bc_run_plan(singles->run, NULL, seconds - singles->spent_s);
    plan.max_rounds = count < plan.max_rounds ? count : plan.max_rounds;
    plan.min_rounds = plan.max_rounds;
    plan.grace_rounds = needs_one ? 1 : 0;
    plan.warmup_rounds = 0;
    plan.adds = true;
    bc_take_rounds(singles->source, &plan, &singles->row->singles);
    singles->spent_s += bc_elapsed_s() - start_s;
}

static void take_between(void *context)
{
    struct singles *const singles = context;
    take_until(singles, INT64_MAX, SINGLES_SHARE * (bc_elapsed_s() - singles->start_s), false);
}

void bc_sample_with_singles(const struct bc_run *run, const struct bc_source *batches,
                            const struct bc_source *singles, int subtrahend, double seconds,
                            struct bc_batch_row *row)
{
    if (singles == NULL) {
        row->in_time = bc_run_sample(run, batches, subtrahend, seconds, &row->batches);
        return;
    }
    struct singles taken = {run, singles, row, bc_elapsed_s(), 0.0};
    struct bc_source in_turn = *batches;
    in_turn.between = take_between;
    in_turn.between_context = &taken;
    bc_samples_begin_visit(&row->singles);
    row->in_time = bc_run_sample(run, &in_turn, subtrahend, seconds, &row->batches);
    take_until(&taken, SINGLES_WANTED / run->visits + 1, SINGLES_SHARE * seconds, true);
}

struct bc_summary bc_batch_summarize(const struct bc_run *run, const struct bc_batch_row *row,
                                     int subtrahend)
{
    struct bc_summary summary = bc_run_summarize(run, &row->batches, 0, subtrahend);
    if (row->singles.count > 0) {
        const struct bc_summary tail = bc_run_summarize(run, &row->singles, 0, subtrahend);
        summary.p99 = tail.p99;
        summary.max = tail.max;
    }
    return summary;
}

bool bc_batch_is_precise(const struct bc_run *run, const struct bc_batch_row *row, int subtrahend)
{
    return bc_run_is_precise(run, &row->batches, row->in_time,
                             &(struct bc_precise_value){.subtrahend = subtrahend}, 1);
}

/* ---- a repetition ---------------------------------------------------------------------------- */

/* Releases the ranks that take part in a batch. */
static void release(const struct bc_batch *batch)
{
    const MPI_Comm participants =
        batch->participants != NULL ? *batch->participants : MPI_COMM_WORLD;
    if (participants != MPI_COMM_NULL)
        bc_harness_release(participants);
}

/* The repetitions that make a batch long against the clock, if one takes `ns`. */
static int64_t repetitions_of(const struct bc_run *run, double ns)
{
    const double repetitions = ceil(bc_batch_ns(&run->max_clock, BATCH_NS) / fmax(ns, 1.0));
    return (int64_t)fmin(repetitions, BATCH_REPETITIONS_MAX);
}

/* The slowest rank's time of a repetition in a batch of `repetitions`; of two batches the quicker
   one, since either may have been disturbed. Collective. */
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

/* repetitions_of, by the time of more and more repetitions. Collective; the same on every rank. */
static int64_t batch_length(const struct bc_run *run, const struct bc_batch *batch)
{
    int64_t tried = 1;
    for (;;) {
        const int64_t enough = repetitions_of(run, repetition_ns(batch, tried));
        if (enough <= 2 * tried)
            return enough;
        /* The time of one repetition says little about that of many. */
        tried = enough < 8 * tried ? enough : 8 * tried;
    }
}

struct round {
    const struct bc_run *run;
    const struct bc_batch *batch;
    int64_t repetitions;
    bool leads_in; /* begins with a repetition that isn't timed */
};

static double take_way(const struct round *round, bc_repeat_fn *repeat)
{
    const struct bc_batch *const batch = round->batch;
    if (batch->prepare != NULL)
        batch->prepare(batch->context);
    if (batch->window == NULL)
        release(batch);
    /* Ranks leave the first repetition as they leave all others, not as they leave a barrier. */
    if (round->leads_in)
        (void)repeat(batch->context, 1);
    if (batch->window != NULL)
        round->run->program->starter->wait(batch->window);
    const double ns = repeat(batch->context, round->repetitions);
    return ns == BC_NO_PART ? -INFINITY : ns / (double)round->repetitions;
}

static void take_batch(void *context, double *values)
{
    const struct round *const round = context;
    values[0] = take_way(round, round->batch->repeat);
    if (round->batch->counterpart != NULL)
        values[1] = take_way(round, round->batch->counterpart);
}

static struct bc_source source_of(const struct bc_run *run, struct round *round)
{
    return (struct bc_source){
        .quantities = round->batch->counterpart != NULL ? 2 : 1,
        .take = take_batch,
        .context = round,
        .starts = round->batch->window != NULL ? bc_run_starts(run) : NULL,
        .starts_apart = round->leads_in && round->batch->window == NULL,
        .repetitions = round->repetitions,
        .clock_ns =
            round->batch->clock_readings * run->own_clock.read_ns / (double)round->repetitions,
    };
}

/* Finds the length in an oversubscribed job, where a repetition may take longer than a batch
   should, and the first one may use up the time: so it is taken as a sample. If there is time,
   takes a second one and goes by that, as the first may have waited for a processor. On rank 0
   *left_s becomes what is left of the visit's time, 0 if that is too short for a round. False if
   there is no time for another sample. */
static bool find_shared_length(const struct bc_run *run, const struct bc_batch *batch,
                               struct bc_batch_row *row, double *left_s)
{
    struct round round = {run, batch, 1, false};
    const struct bc_source source = source_of(run, &round);
    const struct bc_plan one_round = {.min_rounds = 1, .max_rounds = 1, .deadline_s = INFINITY};
    int64_t agreed[2] = {0, 1}; /* repetitions, 0: no time; whether to take another sample */
    for (int i = 0; i < 2 && agreed[1] != 0; i++) {
        const double start_s = bc_elapsed_s();
        bc_samples_clear(&row->batches);
        bc_take_rounds(&source, &one_round, &row->batches);
        if (run->job.rank == 0) {
            const double round_s = bc_elapsed_s() - start_s;
            *left_s = *left_s - round_s < round_s ? 0.0 : *left_s - round_s;
            agreed[0] = repetitions_of(run, row->batches.values[0][0]);
            agreed[1] = agreed[0] == 1 && *left_s > 0.0;
            if (agreed[0] == 1 && *left_s == 0.0)
                agreed[0] = 0;
        }
        bc_harness_bcast(agreed, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    }
    row->repetitions = agreed[0] > 0 ? agreed[0] : 1;
    if (agreed[0] > 0)
        bc_samples_clear(&row->batches);
    return agreed[0] > 0;
}

/* Finds the length of a batch, unless the row knows it. *left_s becomes what is left of the visit's
   time on rank 0. False if the samples with which it was found are all that there is time for.
   Collective; the same on every rank. */
static bool find_length(const struct bc_run *run, const struct bc_batch *batch,
                        struct bc_batch_row *row, double *left_s)
{
    const double start_s = bc_elapsed_s();
    if (row->repetitions == 0)
        row->repetitions = batch->repetitions;
    if (row->repetitions > 0)
        return true;
    if (run->job.oversubscribed)
        return find_shared_length(run, batch, row, left_s);
    row->repetitions = batch_length(run, batch);
    *left_s = fmax(0.0, *left_s - (bc_elapsed_s() - start_s));
    return true;
}

void bc_batch_visit(const struct bc_run *run, const struct bc_batch *batch, double seconds,
                    struct bc_batch_row *row)
{
    if (!find_length(run, batch, row, &seconds)) {
        row->in_time = run->settings.samples == 1;
        return;
    }
    struct round round = {run, batch, row->repetitions, row->repetitions > 1},
                 one = {run, batch, 1, true};
    const struct bc_source batches = source_of(run, &round), singles = source_of(run, &one);
    bc_sample_with_singles(run, &batches, round.leads_in ? &singles : NULL, -1, seconds, row);
}

void bc_batch_conclude(const struct bc_run *run, struct bc_batch_row *row, const char *quantity,
                       struct bc_batch_result *result)
{
    const struct bc_samples *const samples = &row->batches;
    *result = (struct bc_batch_result){.repetitions = (int64_t)samples->count * row->repetitions};
    if (run->job.rank == 0) {
        result->repetition = bc_batch_summarize(run, row, -1);
        if (samples->values[1] != NULL) {
            result->counterpart = bc_run_summarize(run, samples, 1, -1);
            result->gain = bc_run_summarize(run, samples, 1, 0);
        }
        for (size_t i = 0; i < samples->count; i++)
            result->total_s += samples->values[0][i] * (double)row->repetitions * 1e-9;
        result->outcome = bc_run_outcome(run, samples, bc_batch_is_precise(run, row, -1));
        bc_run_dump(run, quantity, samples, 0);
    }
    bc_samples_free(&row->batches);
    bc_samples_free(&row->singles);
}

void bc_transfer_conclude(const struct bc_run *run, struct bc_batch_row *row, const char *quantity,
                          int transfers, int64_t ndata, struct bc_batch_result *result)
{
    const double mib = (double)sizeof(double) * (double)ndata / 1048576.0;
    bc_batch_conclude(run, row, quantity, result);
    result->latency = result->repetition;
    bc_summary_scale(&result->latency, 1.0 / transfers);
    result->bwidth_mbs = mib / (result->latency.value * 1e-9);
    result->check = "off";
    if (run->settings.check)
        result->check = bc_sum_wrong(row->wrong, &result->outcome) > 0 ? "FAIL" : "ok";
}
