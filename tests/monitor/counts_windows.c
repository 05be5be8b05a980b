/*
 * One-sided communication: each function that moves data, each synchronisation that ends it, and
 * the creation and freeing of windows. Rank 0 is the origin, rank 1 the target.
 */
#include "counts.h"

#include <stdio.h>
#include <string.h>

/* Windows smaller than a page fail in MPICH 4.0.2. */
enum { WINDOW_BYTES = 8192, PUTS = 5 };

static MPI_Win win;

/* ---- what moves data ------------------------------------------------------------------------- */

struct movement {
    const char *function;
    bool has_request;
    int64_t bytes;
    void (*move)(int count, int target, MPI_Request *request);
};

#define MOVE(Name, ...)                                                                            \
    static void call_##Name(int count, int target, MPI_Request *request)                           \
    {                                                                                              \
        (void)request, (void)count;                                                                \
        MPI_##Name(__VA_ARGS__);                                                                   \
    }

/* Function, whether it has a request, bytes that 3 elements have, arguments. */
#define MOVEMENTS(X, c)                                                                            \
    X(Put##c, false, 24, data, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win)               \
    X(Get##c, false, 24, result, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win)             \
    X(Accumulate##c, false, 24, data, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, MPI_SUM,    \
      win)                                                                                         \
    X(Get_accumulate##c, false, 24, data, count, MPI_DOUBLE, result, count, MPI_DOUBLE, target, 0, \
      count, MPI_DOUBLE, MPI_SUM, win)                                                             \
    X(Rput##c, true, 24, data, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win, request)      \
    X(Rget##c, true, 24, result, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win, request)    \
    X(Raccumulate##c, true, 24, data, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, MPI_SUM,    \
      win, request)                                                                                \
    X(Rget_accumulate##c, true, 24, data, count, MPI_DOUBLE, result, count, MPI_DOUBLE, target, 0, \
      count, MPI_DOUBLE, MPI_SUM, win, request)
#define SINGLE_MOVEMENTS(X)                                                                        \
    X(Fetch_and_op, false, 8, data, result, MPI_INT64_T, target, 0, MPI_SUM, win)                  \
    X(Compare_and_swap, false, 4, data, data + 8, result, MPI_INT, target, 0, win)

#define DEFINE(Name, has_request, bytes, ...) MOVE(Name, __VA_ARGS__)
MOVEMENTS(DEFINE, )
SINGLE_MOVEMENTS(DEFINE)
#if MPI_VERSION >= 4
MOVEMENTS(DEFINE, _c)
#endif

static const struct movement movements[] = {
#define ROW(Name, has_request, bytes, ...) {"MPI_" #Name, has_request, bytes, call_##Name},
    MOVEMENTS(ROW, ) SINGLE_MOVEMENTS(ROW)
#if MPI_VERSION >= 4
        MOVEMENTS(ROW, _c)
#endif
};

/* 3 elements, or the 1 that the function moves. */
static void count_movement(const struct movement *movement)
{
    case_begin(movement->function, "to the other rank and to nobody");
    if (me == 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        exercised("MPI_Win_unlock");
        PMPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        movement->move(3, 1, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        movement->move(3, MPI_PROC_NULL, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_unlock(1, win);
        struct amounts amounts = completed_messages(1, movement->bytes);
        amounts.calls = amounts.completed = 2;
        case_expects(PTTOPT, "pair", movement->function, amounts);
    }
    case_end();
}

/* ---- what ends it ---------------------------------------------------------------------------- */

/* What surrounds the puts to rank 1, which are complete after `finish`. `clean` isn't counted. */
struct synchronisation {
    const char *function, *what;
    void (*begin)(void), (*finish)(void), (*clean)(void);
    bool both; /* rank 1 takes part */
    int collective_calls;
};

#define STEP(name, ...)                                                                            \
    static void name(void) { __VA_ARGS__; }
STEP(nothing, )
STEP(lock, PMPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win))
STEP(lock_all, PMPI_Win_lock_all(0, win))
STEP(unlock_uncounted, PMPI_Win_unlock(1, win))
STEP(unlock_all_uncounted, PMPI_Win_unlock_all(win))
STEP(unlock, MPI_Win_unlock(1, win))
STEP(unlock_all, MPI_Win_unlock_all(win))
STEP(flush, MPI_Win_flush(1, win))
STEP(flush_local, MPI_Win_flush_local(1, win))
STEP(flush_all, MPI_Win_flush_all(win))
STEP(flush_local_all, MPI_Win_flush_local_all(win))
STEP(fence, MPI_Win_fence(0, win))

static void start_or_post(void)
{
    MPI_Group all, other;
    MPI_Comm_group(pair, &all);
    MPI_Group_incl(all, 1, &partner, &other);
    if (me == 0)
        PMPI_Win_start(other, 0, win);
    else
        PMPI_Win_post(other, 0, win);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
}

static void complete_or_wait(void)
{
    if (me == 0)
        MPI_Win_complete(win);
    else
        PMPI_Win_wait(win);
}

static const struct synchronisation synchronisations[] = {
    {"MPI_Win_unlock", "one target", lock, unlock, nothing, false, 0},
    {"MPI_Win_unlock_all", "all targets", lock_all, unlock_all, nothing, false, 0},
    {"MPI_Win_flush", "under lock", lock, flush, unlock_uncounted, false, 0},
    {"MPI_Win_flush_local", "under lock_all", lock_all, flush_local, unlock_all_uncounted, false,
     0},
    {"MPI_Win_flush_all", "under lock_all", lock_all, flush_all, unlock_all_uncounted, false, 0},
    {"MPI_Win_flush_local_all", "under lock", lock, flush_local_all, unlock_uncounted, false, 0},
    {"MPI_Win_fence", "two of them", fence, fence, nothing, true, 2},
    {"MPI_Win_complete", "start, post and wait", start_or_post, complete_or_wait, nothing, true, 0},
};

static void count_synchronisation(const struct synchronisation *synchronisation)
{
    case_begin(synchronisation->function, synchronisation->what);
    const bool takes_part = me == 0 || synchronisation->both;
    if (takes_part)
        synchronisation->begin();
    for (int i = 0; me == 0 && i < PUTS; i++)
        MPI_Put(data, 1000 * i, MPI_BYTE, 1, 0, 1000 * i, MPI_BYTE, win);
    if (takes_part)
        synchronisation->finish();
    if (me == 0)
        case_expects(PTTOPT, "pair", "MPI_Put",
                     (struct amounts){.calls = PUTS,
                                      .completed = PUTS,
                                      .bytes = 10000,
                                      .small = 1,
                                      .large = PUTS - 1,
                                      .large_bytes = 10000});
    case_expects(COLL, "pair", synchronisation->function,
                 completed_calls(synchronisation->collective_calls, 0));
    case_end();
    if (takes_part)
        synchronisation->clean();
    meet();
}

/* ---- windows --------------------------------------------------------------------------------- */

#define CREATIONS(X, c)                                                                            \
    X(Win_create##c, result, WINDOW_BYTES, 1, MPI_INFO_NULL, pair, &made)                          \
    X(Win_allocate##c, WINDOW_BYTES, 1, MPI_INFO_NULL, pair, &base, &made)                         \
    X(Win_allocate_shared##c, WINDOW_BYTES, 1, MPI_INFO_NULL, pair, &base, &made)

static void *base;

#define CREATE(Name, ...)                                                                          \
    static MPI_Win call_##Name(void)                                                               \
    {                                                                                              \
        MPI_Win made;                                                                              \
        MPI_##Name(__VA_ARGS__);                                                                   \
        return made;                                                                               \
    }
CREATIONS(CREATE, )
#if MPI_VERSION >= 4
CREATIONS(CREATE, _c)
#endif
CREATE(Win_create_dynamic, MPI_INFO_NULL, pair, &made)

static const struct creation {
    const char *function;
    MPI_Win (*create)(void);
    bool has_memory;
} creations[] = {
#define CREATION(Name, ...) {"MPI_" #Name, call_##Name, true},
    CREATIONS(CREATION, )
#if MPI_VERSION >= 4
        CREATIONS(CREATION, _c)
#endif
            {"MPI_Win_create_dynamic", call_Win_create_dynamic, false},
};

/* The new window is used by a get. Its end isn't seen, so freeing the window must end it. */
static void count_creation(const struct creation *creation)
{
    case_begin(creation->function, "its use and freeing");
    MPI_Win made = creation->create();
    if (me == 0 && creation->has_memory) {
        PMPI_Win_lock(MPI_LOCK_SHARED, 1, 0, made);
        MPI_Get(data, 2, MPI_DOUBLE, 1, 0, 2, MPI_DOUBLE, made);
        PMPI_Win_unlock(1, made);
        case_expects(PTTOPT, "pair", "MPI_Get", completed_messages(1, 16));
    }
    exercised("MPI_Win_free");
    MPI_Win_free(&made);
    case_expects(COLL, "pair", creation->function, completed_calls(1, 0));
    case_expects(COLL, "pair", "MPI_Win_free", completed_calls(1, 0));
    case_end();
}

/* Whether windows of shared memory can be made. MPICH 5.1 over UCX has none, unless it was
   configured for them. */
static bool has_shared_windows(void)
{
    MPI_Comm node;
    int ranks;
    PMPI_Comm_split_type(pair, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &ranks);
    PMPI_Comm_free(&node);
    return ranks == 2;
}

void count_windows(void)
{
    const bool shared = has_shared_windows();
    if (me == 0 && !shared)
        printf("note: this library has no shared memory: no MPI_Win_allocate_shared\n");
    for (size_t i = 0; i < ELEMENTS(creations); i++)
        if (shared || strstr(creations[i].function, "_shared") == NULL)
            count_creation(&creations[i]);
        else
            exercised(creations[i].function);
    case_begin("MPI_Win_allocate", "for what follows");
    MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, pair, &base, &win);
    case_expects(COLL, "pair", "MPI_Win_allocate", completed_calls(1, 0));
    case_end();
    for (size_t i = 0; i < ELEMENTS(movements); i++)
        count_movement(&movements[i]);
    for (size_t i = 0; i < ELEMENTS(synchronisations); i++)
        count_synchronisation(&synchronisations[i]);
    case_begin("MPI_Win_free", "what was used");
    MPI_Win_free(&win);
    case_expects(COLL, "pair", "MPI_Win_free", completed_calls(1, 0));
    case_end();
}
