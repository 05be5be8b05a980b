#include "common/stats/singles.h"

/* The share of single repetitions in the time of batches and single repetitions. */
#define SINGLES_SHARE 0.1

/* Ten of these lie beyond the 99th percentile. */
#define SINGLES_WANTED 1000

struct singles {
    const struct bc_run *run;
    struct bc_sampler *sampler;
    const struct bc_source *source;
    double start_s;
    double spent_s; /* on single repetitions so far */
};

/* Takes single repetitions until there are `count` in all, or as many as a row may have samples, or
   until all of them together have taken `seconds`; at least one if `needs_one`. All arguments are
   significant on rank 0. Collective. */
static void take_until(struct singles *singles, int64_t count, double seconds, bool needs_one)
{
    const double start_s = bc_elapsed_s();
    struct bc_plan plan = bc_run_plan(singles->run, seconds - singles->spent_s);
    plan.max_rounds = count < plan.max_rounds ? count : plan.max_rounds;
    plan.min_rounds = plan.max_rounds;
    plan.grace_rounds = needs_one ? 1 : 0;
    plan.warmup_rounds = 0;
    plan.adds = true;
    bc_sampler_run(singles->sampler, singles->source, &plan);
    singles->spent_s += bc_elapsed_s() - start_s;
}

static void take_between(void *context)
{
    struct singles *const singles = context;
    take_until(singles, INT64_MAX, SINGLES_SHARE * (bc_elapsed_s() - singles->start_s), false);
}

bool bc_sample_with_singles(const struct bc_run *run, const struct bc_source *batches,
                            const struct bc_source *singles, bool difference, double seconds,
                            struct bc_summary *summary)
{
    struct singles taken = {
        .run = run,
        .sampler = bc_sampler_create(MPI_COMM_WORLD),
        .source = singles,
        .start_s = bc_elapsed_s(),
    };
    struct bc_source in_turn = *batches;
    in_turn.between = take_between;
    in_turn.between_context = &taken;
    const bool in_time = difference ? bc_run_sample_difference(run, &in_turn, seconds, summary)
                                    : bc_run_sample(run, &in_turn, seconds, summary);
    take_until(&taken, SINGLES_WANTED, SINGLES_SHARE * seconds, true);
    if (run->job.rank == 0) {
        const struct bc_summary tail = bc_run_summarize_difference(
            run, bc_sampler_samples(taken.sampler), 0, difference ? 1 : -1);
        summary->p99 = tail.p99;
        summary->max = tail.max;
    }
    bc_sampler_destroy(taken.sampler);
    return in_time;
}
