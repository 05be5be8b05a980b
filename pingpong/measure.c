#include "pingpong/measure.h"

#include "common/mpi_check.h"

#include <math.h>

/* A batch takes about this long, or 100 times what the clock costs. */
#define BATCH_NS 20000.0
#define BATCH_CLOCKS 100.0
#define BATCH_REPETITIONS_MAX 10000

struct round {
    const struct pingpong_game *game;
    const struct pingpong_pattern *pattern;
    enum pingpong_sync sync;
    int64_t repetitions; /* of a batch */
    int64_t halves;      /* that were checked so far */
    int64_t wrong;       /* of these, on this rank */
};

/* ---- data -------------------------------------------------------------------- */

#define UNTOUCHED (-1.0)

/* What value i of the data is in this half of a repetition. */
static double value_at(int64_t half, int64_t i)
{
    return (double)(half % 1000 * 8192 + i % 8191 + 1);
}

/* Whether this rank has the data before this half, or after it. */
static bool has_data(const struct round *round, bool there, bool before)
{
    const bool moves = round->game->starts == there;
    return before == (moves != round->pattern->gets);
}

static void prepare(const struct round *round, bool there)
{
    const struct pingpong_game *const g = round->game;
    const bool source = has_data(round, there, true);
    for (int64_t i = 0; i < pingpong_nextent(&g->shape); i++)
        g->coarray->values[i] = source && pingpong_moves(&g->shape, i)
                                    ? value_at(round->halves, i)
                                    : UNTOUCHED;
}

static bool is_right(const struct round *round)
{
    const struct pingpong_game *const g = round->game;
    for (int64_t i = 0; i < pingpong_nextent(&g->shape); i++) {
        const double expected = pingpong_moves(&g->shape, i)
                                    ? value_at(round->halves, i)
                                    : UNTOUCHED;
        if (g->coarray->values[i] != expected)
            return false;
    }
    return true;
}

/* The time of one half, whose data is verified at both ends. Collective. */
static double play_checked_half(struct round *round, bool there)
{
    const struct pingpong_game *const g = round->game;
    if (g->partner >= 0)
        prepare(round, there);
    bc_sync_all(g->coarray);
    const double ns = (double)pingpong_play_half(g, round->pattern, round->sync,
                                                 there);
    bc_sync_all(g->coarray);
    if (g->partner >= 0 && !is_right(round))
        round->wrong++;
    round->halves++;
    return ns;
}

static void take_checked(void *context, double *values)
{
    struct round *const round = context;
    double ns = play_checked_half(round, true);
    ns += play_checked_half(round, false);
    values[0] = round->game->partner >= 0 ? ns : -INFINITY;
}

/* ---- batches ------------------------------------------------------------------ */

static void take_batch(void *context, double *values)
{
    const struct round *const round = context;
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    const int64_t ns = pingpong_play(round->game, round->pattern, round->sync,
                                     round->repetitions);
    values[0] = round->game->partner >= 0
                    ? (double)ns / (double)round->repetitions
                    : -INFINITY;
}

/* The repetitions of a batch, by rank 0's time of the second of two. Collective;
   the same on every rank. */
static int64_t batch_repetitions(const struct bc_run *run,
                                 const struct round *round)
{
    int64_t ns = 0;
    for (int i = 0; i < 2; i++) {
        BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
        ns = pingpong_play(round->game, round->pattern, round->sync, 1);
    }
    const double batch_ns = fmax(BATCH_NS, BATCH_CLOCKS * run->clock.read_ns);
    double repetitions = ceil(batch_ns / fmax((double)ns, 1.0));
    if (repetitions > BATCH_REPETITIONS_MAX)
        repetitions = BATCH_REPETITIONS_MAX;
    int64_t agreed = (int64_t)repetitions;
    BC_MPI(MPI_Bcast(&agreed, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    return agreed;
}

/* What the clock adds to a sample comes off. */
static void take_off_clock(struct bc_summary *summary, double clock_ns)
{
    summary->value -= clock_ns;
    summary->interval.lo -= clock_ns;
    summary->interval.hi -= clock_ns;
    summary->p99 -= clock_ns;
    summary->max -= clock_ns;
}

void pingpong_measure(const struct bc_run *run, struct bc_sampler *sampler,
                      const struct pingpong_game *game,
                      const struct pingpong_pattern *pattern,
                      enum pingpong_sync sync, double seconds,
                      struct pingpong_result *result)
{
    const bool check = run->settings.check;
    struct round round = {.game = game,
                          .pattern = pattern,
                          .sync = sync,
                          .repetitions = 1};
    const struct bc_source source = {
        .quantities = 1,
        .take = check ? take_checked : take_batch,
        .context = &round,
    };
    *result = (struct pingpong_result){.repetitions = 0};
    const double start_s = bc_elapsed_s();
    if (!check)
        round.repetitions = batch_repetitions(run, &round);
    const double left_s = fmax(0.0, seconds - (bc_elapsed_s() - start_s));
    result->in_time = bc_run_sample(run, sampler, &source, left_s,
                                    &result->repetition);
    BC_MPI(MPI_Reduce(&round.wrong, &result->wrong, 1, MPI_INT64_T, MPI_SUM, 0,
                      MPI_COMM_WORLD));
    const struct bc_samples *const samples = bc_sampler_samples(sampler);
    for (size_t i = 0; i < samples->count; i++)
        result->total_s +=
            samples->values[0][i] * (double)round.repetitions * 1e-9;
    result->repetitions = (int64_t)samples->count * round.repetitions;
    result->slowest_rank = bc_sampler_slowest_rank(sampler);
    bc_run_dump(run, "repetition", samples->values[0], samples->count);
    const double readings = check ? 2.0 : 1.0;
    take_off_clock(&result->repetition, readings * run->clock.read_ns /
                                            (double)round.repetitions);
}
