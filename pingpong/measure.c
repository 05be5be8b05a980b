#include "pingpong/measure.h"

#include "common/mpi/harness.h"

struct round {
    const struct pingpong_game *game;
    const struct pingpong_pattern *pattern;
    enum pingpong_sync sync;
    int64_t halves; /* that were checked so far */
    int64_t wrong;  /* of these, on this rank */
};

/* ---- data ------------------------------------------------------------------------------------ */

/* What is in the gaps and behind the data, and must stay there: something else at
   each end, so that it is noticed when it is moved, too. */
#define UNTOUCHED_SOURCE (-1.0)
#define UNTOUCHED_TARGET (-2.0)

/* What value i of the data is in this half of a repetition. */
static double value_at(int64_t half, int64_t i)
{
    return (double)(half % 1000 * 8192 + i % 8191 + 1);
}

/* Whether this half moves this rank's data to the other one. */
static bool is_source(const struct round *round, bool there)
{
    const bool moves = round->game->starts == there;
    return moves != round->pattern->gets;
}

/* The values that are looked at. */
static int64_t watched_values(const struct pingpong_game *g)
{
    const int64_t guarded = pingpong_nextent(&g->shape) + PINGPONG_GUARD_VALUES;
    return guarded < g->coarray->count ? guarded : g->coarray->count;
}

/* What value i is before this half, or after it. */
static double expected_at(const struct round *round, bool there, bool after, int64_t i)
{
    const struct pingpong_shape *const shape = &round->game->shape;
    const bool source = is_source(round, there);
    if ((source || after) && i < pingpong_nextent(shape) && pingpong_moves(shape, i))
        return value_at(round->halves, i);
    return source ? UNTOUCHED_SOURCE : UNTOUCHED_TARGET;
}

static void prepare(const struct round *round, bool there)
{
    const struct pingpong_game *const g = round->game;
    for (int64_t i = 0; i < watched_values(g); i++)
        g->coarray->values[i] = expected_at(round, there, false, i);
}

static bool is_right(const struct round *round, bool there)
{
    const struct pingpong_game *const g = round->game;
    for (int64_t i = 0; i < watched_values(g); i++)
        if (g->coarray->values[i] != expected_at(round, there, true, i))
            return false;
    return true;
}

/* The time of one half, whose data is verified at both ends. Collective. */
static int64_t play_checked_half(struct round *round, bool there)
{
    const struct pingpong_game *const g = round->game;
    if (g->partner >= 0)
        prepare(round, there);
    bc_sync_all(g->coarray);
    const int64_t ns = pingpong_play_half(g, round->pattern, round->sync, there);
    bc_sync_all(g->coarray);
    if (g->partner >= 0 && !is_right(round, there))
        round->wrong++;
    round->halves++;
    return ns;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* There and back, so often. Collective. */
static double repeat(void *context, int64_t repetitions)
{
    const struct round *const round = context;
    const int64_t ns = pingpong_play(round->game, round->pattern, round->sync, repetitions);
    return round->game->partner >= 0 ? (double)ns : BC_NO_PART;
}

static double repeat_checked(void *context, int64_t repetitions)
{
    struct round *const round = context;
    int64_t ns = 0;
    for (int64_t i = 0; i < repetitions; i++) {
        ns += play_checked_half(round, true);
        ns += play_checked_half(round, false);
    }
    return round->game->partner >= 0 ? (double)ns : BC_NO_PART;
}

void pingpong_measure(const struct bc_run *run, struct bc_sampler *sampler,
                      const struct pingpong_game *game, const struct pingpong_pattern *pattern,
                      enum pingpong_sync sync, double seconds, struct pingpong_result *result)
{
    const bool check = run->settings.check;
    struct round round = {.game = game, .pattern = pattern, .sync = sync};
    const struct bc_batch batch = {
        .repeat = check ? repeat_checked : repeat,
        .context = &round,
        .repetitions = check ? 1 : 0,
        .clock_readings = check ? 2.0 : 1.0,
        .quantity = "repetition",
        .players = check || sync == PINGPONG_SYNC_ALL ? NULL : game->players,
    };
    bc_batch_measure(run, sampler, &batch, seconds, &result->times);
    result->wrong = 0;
    if (check)
        bc_harness_reduce(&round.wrong, &result->wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
}
