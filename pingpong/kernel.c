#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "pingpong/pingpong.h"

/* The time of `repetitions` times three steps in ns. Inlined where the steps are named, so that the
   loop has nothing but what they do. */
__attribute__((always_inline)) static inline int64_t time_steps(struct pingpong_game *g,
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
    return bc_now_ns() - start_ns;
}

static void nothing(struct pingpong_game *g) { (void)g; }

static void sync_all(struct pingpong_game *g) { bc_sync_all(g->coarray); }

static void sync_partner(struct pingpong_game *g) { bc_sync_images(g->coarray, &g->partners); }

/* An idle rank takes part in sync all, too. */
static pingpong_step_fn *sync_of(const struct pingpong_game *g)
{
    if (g->sync == BC_SYNC_ALL)
        return sync_all;
    return g->sync == BC_SYNC_IMAGES && g->partner >= 0 ? sync_partner : nothing;
}

enum { TAG = 1 };

static inline void send_message(struct pingpong_game *g)
{
    BC_MPI(MPI_Send(g->coarray->values, g->message.count, g->message.type, g->partner, TAG,
                    g->coarray->comm));
}

static inline void receive_message(struct pingpong_game *g)
{
    BC_MPI(MPI_Recv(g->coarray->values, g->message.count, g->message.type, g->partner, TAG,
                    g->coarray->comm, MPI_STATUS_IGNORE));
}

int64_t pingpong_play(struct pingpong_game *game, int64_t repetitions)
{
    pingpong_step_fn *const synchronise = sync_of(game), *const move = game->pattern->move;
    if (game->partner < 0 && game->sync != BC_SYNC_ALL)
        return 0;
    if (game->partner < 0)
        return time_steps(game, sync_all, sync_all, nothing, repetitions);
    if (move == NULL)
        return game->starts ? time_steps(game, send_message, receive_message, nothing, repetitions)
                            : time_steps(game, receive_message, send_message, nothing, repetitions);
    if (game->starts)
        return time_steps(game, move, synchronise, synchronise, repetitions);
    return time_steps(game, synchronise, move, synchronise, repetitions);
}

/* What a rank does in half of a repetition before it synchronises. */
static pingpong_step_fn *move_of(const struct pingpong_game *g, bool there)
{
    const bool moves = g->starts == there;
    if (g->partner < 0)
        return nothing;
    if (g->pattern->move == NULL)
        return moves ? send_message : receive_message;
    return moves ? g->pattern->move : nothing;
}

int64_t pingpong_play_half(struct pingpong_game *game, bool there)
{
    return time_steps(game, move_of(game, there), sync_of(game), nothing, 1);
}
