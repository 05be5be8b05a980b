#include "common/batch.h"

#include "common/mpi_check.h"

#include <math.h>

/* A batch takes about this long, or so many times what the clock costs. */
#define BATCH_NS 20000.0
#define BATCH_CLOCKS 100.0
#define BATCH_REPETITIONS_MAX 10000

int64_t bc_batch_length(const struct bc_run *run, const struct bc_batch *batch)
{
    int64_t ns = 0;
    for (int i = 0; i < 2; i++) {
        BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
        ns = batch->repeat(batch->context, 1);
    }
    const double batch_ns = fmax(BATCH_NS, BATCH_CLOCKS * run->clock.read_ns);
    double repetitions = ceil(batch_ns / fmax((double)ns, 1.0));
    if (repetitions > BATCH_REPETITIONS_MAX)
        repetitions = BATCH_REPETITIONS_MAX;
    int64_t agreed = (int64_t)repetitions;
    BC_MPI(MPI_Bcast(&agreed, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    return agreed;
}

struct round {
    const struct bc_batch *batch;
    int64_t repetitions;
};

static void take_batch(void *context, double *values)
{
    const struct round *const round = context;
    const struct bc_batch *const batch = round->batch;
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    const int64_t ns = batch->repeat(batch->context, round->repetitions);
    values[0] = ns == BC_NO_PART ? -INFINITY
                                 : (double)ns / (double)round->repetitions;
}

/* What the clock adds to a repetition comes off. */
static void take_off_clock(struct bc_summary *summary, double clock_ns)
{
    summary->value -= clock_ns;
    summary->interval.lo -= clock_ns;
    summary->interval.hi -= clock_ns;
    summary->p99 -= clock_ns;
    summary->max -= clock_ns;
}

void bc_batch_measure(const struct bc_run *run, struct bc_sampler *sampler,
                      const struct bc_batch *batch, double seconds,
                      struct bc_batch_result *result)
{
    const double start_s = bc_elapsed_s();
    struct round round = {batch, batch->repetitions};
    *result = (struct bc_batch_result){.slowest_rank = -1};
    if (round.repetitions == 0)
        round.repetitions = bc_batch_length(run, batch);
    const struct bc_source source = {
        .quantities = 1, .take = take_batch, .context = &round};
    const double left_s = fmax(0.0, seconds - (bc_elapsed_s() - start_s));
    result->in_time = bc_run_sample(run, sampler, &source, left_s,
                                    &result->repetition);
    const struct bc_samples *const samples = bc_sampler_samples(sampler);
    for (size_t i = 0; i < samples->count; i++)
        result->total_s +=
            samples->values[0][i] * (double)round.repetitions * 1e-9;
    result->repetitions = (int64_t)samples->count * round.repetitions;
    result->slowest_rank = bc_sampler_slowest_rank(sampler);
    bc_run_dump(run, batch->quantity, samples->values[0], samples->count);
    take_off_clock(&result->repetition, batch->clock_readings *
                                            run->clock.read_ns /
                                            (double)round.repetitions);
}
