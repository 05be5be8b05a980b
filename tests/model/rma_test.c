/*
 * One-sided communication under the model, on 2 ranks with MODEL_RMA=1:
 *
 *   cost        is what the model claims what a bare loop measures? Needs MODEL_REPORT; the environment says what to expect.
 *   right       does every operation deliver through every synchronisation?
 *   wrong N     the same, but the first byte of every N-th operation is wrong
 *   untouched   no data moves
 */
#include "measure.h"

#include <mpi.h>

enum { BYTES = 64, SENT = 17, POISON = 99, WRONG = SENT ^ 0xff };
enum { ITERATIONS = 300, STREAM = 256, STREAM_ITERATIONS = 60, STREAM_BYTES = 16 };

static int rank;
static int peer;
static MPI_Win win;
static MPI_Group peers;
static unsigned char *exposed;
static unsigned char local[BYTES];

typedef void operation(int bytes);

static void put(int bytes)
{
    MPI_Put(local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win);
}

static void get(int bytes)
{
    MPI_Get(local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win);
}

static void rput(int bytes)
{
    MPI_Request request;
    MPI_Rput(local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void rget(int bytes)
{
    MPI_Request request;
    MPI_Rget(local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- Epochs: what opens one, and what closes it. Ranks do the same. ---- */

static void no_call(void)
{
}

static void fence(void)
{
    MPI_Win_fence(0, win);
}

static void lock(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
}

static void unlock(void)
{
    MPI_Win_unlock(peer, win);
}

static void lock_all(void)
{
    MPI_Win_lock_all(0, win);
}

static void unlock_all(void)
{
    MPI_Win_unlock_all(win);
}

static void post_start(void)
{
    MPI_Win_post(peers, 0, win);
    MPI_Win_start(peers, 0, win);
}

static void complete_wait(void)
{
    MPI_Win_complete(win);
    MPI_Win_wait(win);
}

static void flush(void)
{
    MPI_Win_flush(peer, win);
}

static void flush_all(void)
{
    MPI_Win_flush_all(win);
}

static void flush_local(void)
{
    MPI_Win_flush_local(peer, win);
}

static void flush_local_all(void)
{
    MPI_Win_flush_local_all(win);
}

struct epoch {
    const char *name;
    void (*open)(void);
    void (*complete)(void);
    void (*close)(void);
    bool passive; /* which Rput and Rget want */
};

static const struct epoch epochs[] = {
    {"fence", fence, fence, no_call, false},
    {"pscw", post_start, complete_wait, no_call, false},
    {"lock", lock, unlock, no_call, true},
    {"lock_all", lock_all, unlock_all, no_call, true},
    {"flush", lock_all, flush, unlock_all, true},
    {"flush_all", lock_all, flush_all, unlock_all, true},
    {"flush_local", lock_all, flush_local, unlock_all, true},
    {"flush_local_all", lock_all, flush_local_all, unlock_all, true},
};

enum { EPOCHS = sizeof epochs / sizeof epochs[0] };

/* ---- Data ---- */

static void test_delivery(const struct epoch *epoch, const char *name, operation *operate, bool is_put, bool moves,
                          long wrong_every)
{
    static long operations;
    char what[64];
    memset(exposed, is_put ? POISON : SENT, BYTES);
    memset(local, is_put ? SENT : POISON, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    epoch->open();
    operate(BYTES / 2);
    epoch->complete();
    const unsigned char early = local[0];
    epoch->close();
    MPI_Barrier(MPI_COMM_WORLD);

    operations++;
    const bool damaged = wrong_every > 0 && operations % wrong_every == 0;
    const unsigned char *received = is_put ? exposed : local;
    int unexpected = 0;
    for (int i = 0; i < BYTES; i++)
        unexpected += received[i] != (!moves || i >= BYTES / 2 ? POISON : i == 0 && damaged ? WRONG : SENT);
    (void)snprintf(what, sizeof what, "%s, %s: unexpected bytes", epoch->name, name);
    check_equal(what, unexpected, 0);
    (void)snprintf(what, sizeof what, "%s, %s: after the synchronisation", epoch->name, name);
    check_equal(what, early, local[0]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_data(bool moves, long wrong_every)
{
    for (int i = 0; i < EPOCHS; i++) {
        test_delivery(&epochs[i], "put", put, true, moves, wrong_every);
        test_delivery(&epochs[i], "get", get, false, moves, wrong_every);
        if (epochs[i].passive) {
            test_delivery(&epochs[i], "rput", rput, true, moves, wrong_every);
            test_delivery(&epochs[i], "rget", rget, false, moves, wrong_every);
        }
    }
}

/* ---- Costs ---- */

static double clock_cost_us;
static double latency_us;
static double per_byte_us;
static double gap_us;
static double fraction;
static double post_us;
static double wait_us;
static double sync_us;

struct costs {
    double post;
    double alone;      /* post and flush */
    double after_work; /* the flush after work */
    double stream;     /* STREAM posts and a flush, the quickest */
    double request;    /* with a request: post and wait */
};

static struct costs measure(operation *operate, operation *with_request, int bytes)
{
    static double post[ITERATIONS];
    static double alone[ITERATIONS];
    static double after_work[ITERATIONS];
    static double request[ITERATIONS];
    static double stream[STREAM_ITERATIONS];
    const double duration = latency_us + per_byte_us * bytes;
    for (int i = 0; i < ITERATIONS; i++) {
        measure_work(gap_us);
        double begin = check_now_us();
        operate(bytes);
        flush();
        alone[i] = check_now_us() - begin;

        measure_work(gap_us);
        begin = check_now_us();
        operate(bytes);
        post[i] = check_now_us() - begin;
        measure_work(duration + post_us + gap_us + 5);
        begin = check_now_us();
        flush();
        after_work[i] = check_now_us() - begin;

        begin = check_now_us();
        with_request(bytes);
        request[i] = check_now_us() - begin;
    }
    for (int i = 0; i < STREAM_ITERATIONS; i++) {
        measure_work(gap_us);
        const double begin = check_now_us();
        for (int message = 0; message < STREAM; message++)
            operate(STREAM_BYTES);
        flush_all();
        stream[i] = check_now_us() - begin;
    }
    return (struct costs){
        .post = measure_middle(post, ITERATIONS) - clock_cost_us,
        .alone = measure_middle(alone, ITERATIONS) - clock_cost_us,
        .after_work = measure_middle(after_work, ITERATIONS) - clock_cost_us,
        .stream = measure_quickest(stream, STREAM_ITERATIONS) - clock_cost_us,
        .request = measure_middle(request, ITERATIONS) - clock_cost_us,
    };
}

static void check_costs(const char *path, const char *name, const char *request_name, int bytes,
                        const struct costs *costs)
{
    const double duration = latency_us + per_byte_us * bytes;
    const double autonomous = fraction * duration;
    const double host_part = duration - autonomous;
    const double stream_duration = latency_us + per_byte_us * STREAM_BYTES;
    const double host = measure_claim(path, name, bytes, "host_us");
    const double flush_extra = measure_claim(path, "win_flush", 0, "extra_us");
    const double spacing = measure_claim(path, name, STREAM_BYTES, "per_message_us");
    const double stream = (STREAM - 1) * spacing + fraction * stream_duration +
                          STREAM * (1 - fraction) * stream_duration + sync_us +
                          measure_claim(path, "win_flush_all", 0, "extra_us");
    check_close("transfer_us", measure_claim(path, name, bytes, "transfer_us"), duration, 1e-3);
    check_close("h is o and little more", host, post_us + 0.15, 0.15);
    check_close("x is w and little more", flush_extra, wait_us + 0.15, 0.15);
    check_close("win_flush: its own duration", measure_claim(path, "win_flush", 0, "duration_us"), sync_us, 1e-3);
    measure_check(name, "post", costs->post, host, 1);
    measure_check(name, "post and flush", costs->alone, fmax(host, autonomous) + host_part + sync_us + flush_extra, 2);
    measure_check(name, "flush after work", costs->after_work, host_part + sync_us + flush_extra, 1);
    measure_check_stream(name, "stream and flush", costs->stream, stream, spacing > gap_us ? STREAM + 1 : 1);
    measure_check(request_name, "post and wait", costs->request,
                  fmax(measure_claim(path, request_name, bytes, "host_us"), autonomous) + host_part +
                      measure_claim(path, request_name, bytes, "extra_us"),
                  2);
}

/* Calls whose real one runs too: the duration claimed and x make up what they take. */
static double measure_call(void (*before)(void), void (*call)(void), void (*after)(void))
{
    static double times[ITERATIONS];
    for (int i = 0; i < ITERATIONS; i++) {
        before();
        const double begin = check_now_us();
        call();
        times[i] = check_now_us() - begin;
        after();
    }
    return measure_middle(times, ITERATIONS) - clock_cost_us;
}

static void test_costs(const char *path)
{
    const int bytes = BYTES;
    lock_all();
    const struct costs put_costs = measure(put, rput, bytes);
    const struct costs get_costs = measure(get, rget, bytes);
    unlock_all();
    MPI_Barrier(MPI_COMM_WORLD);
    const double lock_us = measure_call(no_call, lock, unlock);
    const double unlock_us = measure_call(lock, unlock, no_call);
    const double fence_us = measure_call(no_call, fence, no_call);
    MPI_Group_free(&peers);
    MPI_Win_free(&win);
    MPI_Finalize();
    if (rank == 0) {
        check_costs(path, "put", "rput", bytes, &put_costs);
        check_costs(path, "get", "rget", bytes, &get_costs);
        /* What the real ones take differs between ranks. */
        check_close("win_lock", lock_us, sync_us + measure_claim(path, "win_lock", 0, "extra_us"), 0.02 * lock_us + 0.1);
        check_close("win_unlock", unlock_us, sync_us + measure_claim(path, "win_unlock", 0, "extra_us"),
                    0.02 * unlock_us + 0.1);
        check_close("win_fence", fence_us, sync_us + measure_claim(path, "win_fence", 0, "extra_us"),
                    0.05 * fence_us + 0.2);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    check_begin(rank == 0);
    if (argc < 2)
        return EXIT_FAILURE;
    const char *path = getenv("MODEL_REPORT"); /* before any thread. NOLINT(concurrency-mt-unsafe) */
    latency_us = measure_asked("MODEL_LATENCY_US", 0);
    per_byte_us = measure_asked("MODEL_PER_BYTE_NS", 0) / 1e3;
    gap_us = measure_asked("MODEL_GAP_US", 0);
    fraction = measure_asked("MODEL_FRACTION", 1);
    post_us = measure_asked("MODEL_POST_US", 0);
    wait_us = measure_asked("MODEL_WAIT_US", 0);
    sync_us = measure_asked("MODEL_SYNC_US", 0);
    clock_cost_us = measure_clock_cost_us();

    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &peers);
    MPI_Group_free(&world);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &win);
    if (strcmp(argv[1], "cost") == 0) {
        test_costs(path);
        return check_end();
    }
    test_data(strcmp(argv[1], "untouched") != 0, argc == 3 ? strtol(argv[2], NULL, 10) : 0);
    MPI_Group_free(&peers);
    MPI_Win_free(&win);
    MPI_Finalize();
    return check_end();
}
