#include "pingpong/measure.h"

#include "common/mpi/harness.h"
#include "pingpong/check.h"
#include "pingpong/kernel.h"

struct round {
    const struct pingpong_game *game;
    const struct pingpong_pattern *pattern;
    enum pingpong_sync sync;
    int64_t halves; /* that were checked so far */
    int64_t wrong;  /* of these, on this rank */
};

static double repeat(void *context, int64_t repetitions)
{
    const struct round *const round = context;
    const int64_t ns = pingpong_play(round->game, round->pattern, round->sync, repetitions);
    return round->game->partner >= 0 ? (double)ns : BC_NO_PART;
}

/* The time of one half, whose data is verified at both ends. Collective. */
static int64_t play_checked_half(struct round *round, bool there)
{
    const struct pingpong_game *const game = round->game;
    const struct pingpong_half half = {game, round->pattern, there, round->halves++};
    if (game->partner >= 0)
        pingpong_prepare(&half);
    bc_sync_all(game->coarray);
    const int64_t ns = pingpong_play_half(game, round->pattern, round->sync, there);
    bc_sync_all(game->coarray);
    if (game->partner >= 0 && !pingpong_is_right(&half))
        round->wrong++;
    return ns;
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

void pingpong_measure(const struct bc_run *run, const struct pingpong_game *game,
                      const struct pingpong_pattern *pattern, enum pingpong_sync sync,
                      double seconds, struct bc_batch_result *result)
{
    const bool check = run->settings.check;
    struct round round = {.game = game, .pattern = pattern, .sync = sync};
    const struct bc_batch batch = {
        .repeat = check ? repeat_checked : repeat,
        .context = &round,
        .repetitions = check ? 1 : 0,
        .clock_readings = check ? 2.0 : 1.0,
        .quantity = "repetition",
        .participants = check || sync == PINGPONG_SYNC_ALL ? NULL : game->participants,
    };
    bc_batch_measure(run, &batch, seconds, result);
    int64_t wrong = 0;
    if (check)
        bc_harness_reduce(&round.wrong, &wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (wrong > 0)
        result->outcome.status = BC_FAIL;
}
