#include "pingpong/kernel.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

#include <stddef.h>

typedef void sync_fn(const struct pingpong_game *game);

static void sync_all(const struct pingpong_game *g)
{
    bc_sync_all(g->coarray);
}

static void sync_partner(const struct pingpong_game *g)
{
    /* Its requests change, but not the set of ranks. */
    bc_sync_images(g->coarray, (struct bc_images *)&g->partners);
}

static int64_t play_start(const struct pingpong_game *g, pingpong_move_fn *move,
                          sync_fn *synchronise, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        move(g);
        synchronise(g);
        synchronise(g);
    }
    return bc_now_ns() - start_ns;
}

static int64_t play_return(const struct pingpong_game *g, pingpong_move_fn *move,
                           sync_fn *synchronise, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        synchronise(g);
        move(g);
        synchronise(g);
    }
    return bc_now_ns() - start_ns;
}

/* An idle rank takes part in sync all, too. */
static int64_t play_idle(const struct pingpong_game *g, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        bc_sync_all(g->coarray);
        bc_sync_all(g->coarray);
    }
    return bc_now_ns() - start_ns;
}

enum { TAG = 1 };

static inline void send_message(const struct pingpong_game *g)
{
    BC_MPI(MPI_Send(g->coarray->values, g->message.count, g->message.type, g->partner, TAG,
                    g->coarray->comm));
}

static inline void receive_message(const struct pingpong_game *g)
{
    BC_MPI(MPI_Recv(g->coarray->values, g->message.count, g->message.type, g->partner, TAG,
                    g->coarray->comm, MPI_STATUS_IGNORE));
}

static int64_t play_send_first(const struct pingpong_game *g, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        send_message(g);
        receive_message(g);
    }
    return bc_now_ns() - start_ns;
}

static int64_t play_receive_first(const struct pingpong_game *g, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        receive_message(g);
        send_message(g);
    }
    return bc_now_ns() - start_ns;
}

int64_t pingpong_play(const struct pingpong_game *game, const struct pingpong_pattern *pattern,
                      enum pingpong_sync sync, int64_t repetitions)
{
    sync_fn *const synchronise = sync == PINGPONG_SYNC_ALL ? sync_all : sync_partner;
    if (game->partner < 0)
        return sync == PINGPONG_SYNC_ALL ? play_idle(game, repetitions) : 0;
    if (pattern->move == NULL)
        return game->starts ? play_send_first(game, repetitions)
                            : play_receive_first(game, repetitions);
    return game->starts ? play_start(game, pattern->move, synchronise, repetitions)
                        : play_return(game, pattern->move, synchronise, repetitions);
}

static void move_nothing(const struct pingpong_game *g)
{
    (void)g;
}

static void sync_nobody(const struct pingpong_game *g)
{
    (void)g;
}

/* What a rank does in half of a repetition before it synchronises. */
static pingpong_move_fn *move_of(const struct pingpong_game *g,
                                 const struct pingpong_pattern *pattern, bool there)
{
    const bool moves = g->starts == there;
    if (g->partner < 0)
        return move_nothing;
    if (pattern->move == NULL)
        return moves ? send_message : receive_message;
    return moves ? pattern->move : move_nothing;
}

static sync_fn *sync_of(const struct pingpong_game *g, enum pingpong_sync sync)
{
    if (sync == PINGPONG_SYNC_ALL)
        return sync_all;
    return sync == PINGPONG_SYNC_IMAGES && g->partner >= 0 ? sync_partner : sync_nobody;
}

int64_t pingpong_play_half(const struct pingpong_game *game, const struct pingpong_pattern *pattern,
                           enum pingpong_sync sync, bool there)
{
    pingpong_move_fn *const move = move_of(game, pattern, there);
    sync_fn *const synchronise = sync_of(game, sync);
    const int64_t start_ns = bc_now_ns();
    move(game);
    synchronise(game);
    return bc_now_ns() - start_ns;
}
