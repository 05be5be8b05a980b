#include "pingpong/patterns.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

#include <stddef.h>

const char *const pingpong_sync_names[PINGPONG_SYNCS] = {"all", "images", "none"};

/* ---- moving the data ------------------------------------------------------------------------- */

/* This rank's part of the coarray from a place on. */
static inline double *at(const struct pingpong_game *g, int64_t displacement)
{
    return g->coarray->values + displacement;
}

/* Of a function that is really called, whatever it is given: not inlined, no copy
   of it made for what a caller gives it, nothing about it used by its callers. */
#ifdef __has_attribute
#if __has_attribute(noipa)
#define CALLED __attribute__((noipa))
#endif
#endif
#ifndef CALLED
#define CALLED __attribute__((noinline))
#endif

/* After a call that ends a function: so it is no jump. */
static inline void return_here(void)
{
    __asm__ volatile("");
}

/* The transfers that both directions have, by name of the coarray's function. */
#define MOVES(kind)                                                                                \
    static void kind##_inline(const struct pingpong_game *g)                                       \
    {                                                                                              \
        bc_coarray_##kind(g->coarray, g->partner, 0, at(g, 0), pingpong_ndata(&g->shape));         \
    }                                                                                              \
                                                                                                   \
    /* target, source, displacement and count, as in the specification. */                         \
    CALLED static void kind##_block(const struct bc_coarray *target, double *source, int partner,  \
                                    int64_t displacement, int64_t count)                           \
    {                                                                                              \
        bc_coarray_##kind(target, partner, displacement, source + displacement, count);            \
    }                                                                                              \
                                                                                                   \
    static void kind##_sub(const struct pingpong_game *g)                                          \
    {                                                                                              \
        kind##_block(g->coarray, at(g, 0), g->partner, 0, pingpong_ndata(&g->shape));              \
        return_here();                                                                             \
    }                                                                                              \
                                                                                                   \
    CALLED static void kind##_count(const struct pingpong_game *g, int64_t count)                  \
    {                                                                                              \
        bc_coarray_##kind(g->coarray, g->partner, 0, at(g, 0), count);                             \
    }                                                                                              \
                                                                                                   \
    static void kind##_simple_sub(const struct pingpong_game *g)                                   \
    {                                                                                              \
        kind##_count(g, pingpong_ndata(&g->shape));                                                \
        return_here();                                                                             \
    }                                                                                              \
                                                                                                   \
    static void kind##_all(const struct pingpong_game *g)                                          \
    {                                                                                              \
        bc_coarray_##kind(g->coarray, g->partner, 0, at(g, 0), g->coarray->count);                 \
    }                                                                                              \
                                                                                                   \
    static void kind##_many(const struct pingpong_game *g)                                         \
    {                                                                                              \
        const struct pingpong_shape s = g->shape;                                                  \
        for (int64_t i = 0; i < s.count; i++)                                                      \
            bc_coarray_##kind(g->coarray, g->partner, i *s.stride, at(g, i *s.stride), s.blksize); \
    }                                                                                              \
                                                                                                   \
    CALLED static void kind##_blocks(const struct bc_coarray *target, double *source, int partner, \
                                     int64_t displacement, int64_t count, int64_t blksize,         \
                                     int64_t stride)                                               \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            bc_coarray_##kind(target, partner, displacement + i * stride,                          \
                              source + displacement + i * stride, blksize);                        \
    }                                                                                              \
                                                                                                   \
    static void kind##_sub_many(const struct pingpong_game *g)                                     \
    {                                                                                              \
        const struct pingpong_shape s = g->shape;                                                  \
        kind##_blocks(g->coarray, at(g, 0), g->partner, 0, s.count, s.blksize, s.stride);          \
        return_here();                                                                             \
    }                                                                                              \
                                                                                                   \
    static void kind##_many_sub(const struct pingpong_game *g)                                     \
    {                                                                                              \
        const struct pingpong_shape s = g->shape;                                                  \
        for (int64_t i = 0; i < s.count; i++)                                                      \
            kind##_block(g->coarray, at(g, 0), g->partner, i *s.stride, s.blksize);                \
    }                                                                                              \
                                                                                                   \
    static void kind##_strided(const struct pingpong_game *g)                                      \
    {                                                                                              \
        bc_coarray_##kind##_section(g->coarray, g->partner, 0, at(g, 0), &g->section);             \
    }                                                                                              \
                                                                                                   \
    CALLED static void kind##_section(const struct bc_coarray *target, double *source,             \
                                      int partner, int64_t displacement,                           \
                                      const struct bc_section *section)                            \
    {                                                                                              \
        bc_coarray_##kind##_section(target, partner, displacement, source + displacement,          \
                                    section);                                                      \
    }                                                                                              \
                                                                                                   \
    static void kind##_strided_sub(const struct pingpong_game *g)                                  \
    {                                                                                              \
        kind##_section(g->coarray, at(g, 0), g->partner, 0, &g->section);                          \
        return_here();                                                                             \
    }

MOVES(put)
MOVES(get)

/* ---- the timed loops ------------------------------------------------------------------------- */

typedef void meet_fn(const struct pingpong_game *game);

static void meet_all(const struct pingpong_game *g)
{
    bc_sync_all(g->coarray);
}

static void meet_partner(const struct pingpong_game *g)
{
    /* The set's requests are used, the set stays. */
    bc_sync_images(g->coarray, (struct bc_images *)&g->partners);
}

static int64_t play_start(const struct pingpong_game *g, pingpong_move_fn *move, meet_fn *meet,
                          int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        move(g);
        meet(g);
        meet(g);
    }
    return bc_now_ns() - start_ns;
}

static int64_t play_return(const struct pingpong_game *g, pingpong_move_fn *move, meet_fn *meet,
                           int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        meet(g);
        move(g);
        meet(g);
    }
    return bc_now_ns() - start_ns;
}

/* An idle rank takes part in sync all all the same. */
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
    BC_MPI(
        MPI_Send(at(g, 0), g->message.count, g->message.type, g->partner, TAG, g->coarray->comm));
}

static inline void receive_message(const struct pingpong_game *g)
{
    BC_MPI(MPI_Recv(at(g, 0), g->message.count, g->message.type, g->partner, TAG, g->coarray->comm,
                    MPI_STATUS_IGNORE));
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
    meet_fn *const meet = sync == PINGPONG_SYNC_ALL ? meet_all : meet_partner;
    if (game->partner < 0)
        return sync == PINGPONG_SYNC_ALL ? play_idle(game, repetitions) : 0;
    if (pattern->move == NULL)
        return game->starts ? play_send_first(game, repetitions)
                            : play_receive_first(game, repetitions);
    return game->starts ? play_start(game, pattern->move, meet, repetitions)
                        : play_return(game, pattern->move, meet, repetitions);
}

static void move_nothing(const struct pingpong_game *g)
{
    (void)g;
}

static void meet_nobody(const struct pingpong_game *g)
{
    (void)g;
}

/* What a rank does in a half of a repetition beside meeting. */
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

static meet_fn *meet_of(const struct pingpong_game *g, enum pingpong_sync sync)
{
    if (sync == PINGPONG_SYNC_ALL)
        return meet_all;
    return sync == PINGPONG_SYNC_IMAGES && g->partner >= 0 ? meet_partner : meet_nobody;
}

int64_t pingpong_play_half(const struct pingpong_game *game, const struct pingpong_pattern *pattern,
                           enum pingpong_sync sync, bool there)
{
    pingpong_move_fn *const move = move_of(game, pattern, there);
    meet_fn *const meet = meet_of(game, sync);
    const int64_t start_ns = bc_now_ns();
    move(game);
    meet(game);
    return bc_now_ns() - start_ns;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define PATTERNS(kind, reads)                                                                      \
    {.name = #kind, .sweep = PINGPONG_CONTIGUOUS, .gets = (reads), .move = kind##_inline},         \
        {.name = "sub" #kind, .sweep = PINGPONG_CONTIGUOUS, .gets = (reads), .move = kind##_sub},  \
        {.name = "simple sub" #kind,                                                               \
         .sweep = PINGPONG_CONTIGUOUS,                                                             \
         .gets = (reads),                                                                          \
         .move = kind##_simple_sub},                                                               \
        {.name = "all " #kind,                                                                     \
         .sweep = PINGPONG_CONTIGUOUS,                                                             \
         .gets = (reads),                                                                          \
         .exact = true,                                                                            \
         .move = kind##_all},                                                                      \
        {.name = "many " #kind, .sweep = PINGPONG_MANY, .gets = (reads), .move = kind##_many},     \
        {.name = "sub many" #kind,                                                                 \
         .sweep = PINGPONG_MANY,                                                                   \
         .gets = (reads),                                                                          \
         .move = kind##_sub_many},                                                                 \
        {.name = "many sub" #kind,                                                                 \
         .sweep = PINGPONG_MANY,                                                                   \
         .gets = (reads),                                                                          \
         .move = kind##_many_sub},                                                                 \
        {.name = "strided " #kind,                                                                 \
         .sweep = PINGPONG_STRIDED,                                                                \
         .gets = (reads),                                                                          \
         .section = true,                                                                          \
         .move = kind##_strided},                                                                  \
        {.name = "strided sub" #kind,                                                              \
         .sweep = PINGPONG_STRIDED,                                                                \
         .gets = (reads),                                                                          \
         .section = true,                                                                          \
         .move = kind##_strided_sub},                                                              \
    {                                                                                              \
        .name = "strided many " #kind, .sweep = PINGPONG_STRIDED_MANY, .gets = (reads),            \
        .move = kind##_many                                                                        \
    }

const struct pingpong_pattern pingpong_patterns[PINGPONG_PATTERNS] = {
    PATTERNS(put, false),
    PATTERNS(get, true),
    {.name = "MPI Send", .sweep = PINGPONG_CONTIGUOUS},
};
