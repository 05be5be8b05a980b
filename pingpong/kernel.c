/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "pingpong/pingpong.h"

/* Times `repetitions` of three steps. Inlined with constant steps, so that the loop contains only
   their calls. */
__attribute__((always_inline)) static inline struct bc_span time_steps(struct pingpong_game *g,
                                                                       pingpong_step_fn *first,
                                                                       pingpong_step_fn *second,
                                                                       pingpong_step_fn *third,
                                                                       int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        first(g);
        second(g);
        third(g);
    }
    return (struct bc_span){start_ns, bc_now_ns()};
}

static void nothing(struct pingpong_game *g) { (void)g; }

static void sync_all(struct pingpong_game *g) { bc_sync_all(g->coarray); }

static void sync_partner(struct pingpong_game *g) { bc_sync_images(g->coarray, &g->partners); }

/* Returns the step that synchronises. An idle rank also takes part in sync all. */
static pingpong_step_fn *sync_of(const struct pingpong_game *g)
{
    if (g->sync == BC_SYNC_ALL)
        return sync_all;
    return g->sync == BC_SYNC_IMAGES && g->partner >= 0 ? sync_partner : nothing;
}

enum { TAG = 1 };

static inline void send_message(struct pingpong_game *g)
{
    BC_MPI(
        MPI_Send(g->origin, g->message.count, g->message.type, g->partner, TAG, g->coarray->comm));
}

static inline void receive_message(struct pingpong_game *g)
{
    BC_MPI(MPI_Recv(g->landing, g->message.count, g->message.type, g->partner, TAG,
                    g->coarray->comm, MPI_STATUS_IGNORE));
}

/* ---- staged: a copy from the device before a transfer, and one to it afterwards -------------- */

static void copy_out(struct pingpong_game *g)
{
    if (g->staged)
        bc_device_copy(g->values->device, g->coarray->values, g->values->start,
                       (size_t)pingpong_nextent(&g->shape) * sizeof(double));
}

static void copy_in(struct pingpong_game *g)
{
    if (g->staged)
        bc_device_copy(g->values->device, g->values->start, g->coarray->values,
                       (size_t)pingpong_nextent(&g->shape) * sizeof(double));
}

static void send_staged(struct pingpong_game *g)
{
    copy_out(g);
    send_message(g);
}

static void receive_staged(struct pingpong_game *g)
{
    receive_message(g);
    copy_in(g);
}

static void put_staged(struct pingpong_game *g)
{
    copy_out(g);
    g->pattern->move(g);
}

/* Copies arrived data to the device, and from there to the memory that the partner reads. */
static void pass_on(struct pingpong_game *g)
{
    copy_in(g);
    copy_out(g);
}

static void get_staged(struct pingpong_game *g)
{
    g->pattern->move(g);
    bc_sync_memory(g->coarray);
    pass_on(g);
}

/* Waits for the partner's put. */
static void arrive_staged(struct pingpong_game *g)
{
    sync_of(g)(g);
    copy_in(g);
}

static struct bc_span play_staged(struct pingpong_game *game, int64_t repetitions)
{
    pingpong_step_fn *const synchronise = sync_of(game);
    copy_out(game);
    if (game->pattern->move == NULL && game->starts)
        return time_steps(game, send_staged, receive_staged, nothing, repetitions);
    if (game->pattern->move == NULL)
        return time_steps(game, receive_staged, send_staged, nothing, repetitions);
    if (game->pattern->gets && game->starts)
        return time_steps(game, get_staged, synchronise, synchronise, repetitions);
    if (game->pattern->gets)
        return time_steps(game, synchronise, get_staged, synchronise, repetitions);
    if (game->starts)
        return time_steps(game, put_staged, synchronise, arrive_staged, repetitions);
    return time_steps(game, arrive_staged, put_staged, synchronise, repetitions);
}

struct bc_span pingpong_play(struct pingpong_game *game, int64_t repetitions)
{
    pingpong_step_fn *const synchronise = sync_of(game), *const move = game->pattern->move;
    if (game->partner < 0 && game->sync != BC_SYNC_ALL)
        return (struct bc_span){0, 0};
    if (game->partner < 0)
        return time_steps(game, sync_all, sync_all, nothing, repetitions);
    if (game->is_counterpart)
        return play_staged(game, repetitions);
    if (move == NULL)
        return game->starts ? time_steps(game, send_message, receive_message, nothing, repetitions)
                            : time_steps(game, receive_message, send_message, nothing, repetitions);
    if (game->starts)
        return time_steps(game, move, synchronise, synchronise, repetitions);
    return time_steps(game, synchronise, move, synchronise, repetitions);
}

/* Returns a rank's step before it synchronises, in half a repetition. */
static pingpong_step_fn *move_of(const struct pingpong_game *g, bool there)
{
    const bool moves = g->starts == there, staged = g->staged;
    if (g->partner < 0)
        return nothing;
    if (g->pattern->move == NULL && moves)
        return staged ? send_staged : send_message;
    if (g->pattern->move == NULL)
        return staged ? receive_staged : receive_message;
    if (!moves)
        return nothing;
    return staged && !g->pattern->gets ? put_staged : g->pattern->move;
}

struct bc_span pingpong_play_half(struct pingpong_game *game, bool there)
{
    pingpong_step_fn *const arrive = game->pattern->gets ? pass_on : copy_in;
    return time_steps(game, move_of(game, there), sync_of(game),
                      game->staged && game->pattern->move != NULL ? arrive : nothing, 1);
}
