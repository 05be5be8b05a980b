/*
 * One-sided communication under the model, on 2 ranks with MODEL_RMA=1:
 *
 *   cost        is what the model claims what a bare loop measures? Needs MODEL_REPORT; the
 *               environment says what to expect.
 *   right       does every operation deliver through every synchronisation?
 *   wrong N     the same, but the first byte of every N-th operation is wrong
 *   untouched   no data moves
 *   effect      does an atomic operation take place at another rank when its T is over? Needs
 *               MODEL_DATA=1
 *   contend     do ranks that contend for an exclusive lock have its holders' costs one after the
 *               other? Also needs MODEL_REPORT
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

static void put(int bytes) { MPI_Put(local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win); }

static void get(int bytes) { MPI_Get(local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win); }

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

/* The atomic ones that do what a put or a get does. */

static void accumulate(int bytes)
{
    MPI_Accumulate(local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, MPI_REPLACE, win);
}

static void get_accumulate(int bytes)
{
    MPI_Get_accumulate(NULL, 0, MPI_BYTE, local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE,
                       MPI_NO_OP, win);
}

static void raccumulate(int bytes)
{
    MPI_Request request;
    MPI_Raccumulate(local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, MPI_REPLACE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void rget_accumulate(int bytes)
{
    MPI_Request request;
    MPI_Rget_accumulate(NULL, 0, MPI_BYTE, local, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE,
                        MPI_NO_OP, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Of one byte, whatever is asked for. */
static void fetch_and_op(int bytes)
{
    (void)bytes;
    MPI_Fetch_and_op(NULL, local, MPI_BYTE, peer, 0, MPI_NO_OP, win);
}

static void compare_and_swap(int bytes)
{
    static const unsigned char swapped = POISON;
    static const unsigned char compared = SENT;
    (void)bytes;
    MPI_Compare_and_swap(&swapped, &compared, local, MPI_BYTE, peer, 0, win);
}

static const struct {
    const char *name;
    operation *operate;
    bool is_put;
    bool has_request;
    int bytes; /* that arrive */
} operations[] = {
    {"put", put, true, false, BYTES / 2},
    {"get", get, false, false, BYTES / 2},
    {"rput", rput, true, true, BYTES / 2},
    {"rget", rget, false, true, BYTES / 2},
    {"accumulate", accumulate, true, false, BYTES / 2},
    {"get_accumulate", get_accumulate, false, false, BYTES / 2},
    {"raccumulate", raccumulate, true, true, BYTES / 2},
    {"rget_accumulate", rget_accumulate, false, true, BYTES / 2},
    {"fetch_and_op", fetch_and_op, false, false, 1},
    {"compare_and_swap", compare_and_swap, false, false, 1},
};

enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* ---- Epochs: what opens one, and what closes it. Ranks do the same. -------------------------- */

static void no_call(void) {}

static void fence(void) { MPI_Win_fence(0, win); }

static void lock(void) { MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win); }

static void unlock(void) { MPI_Win_unlock(peer, win); }

static void lock_all(void) { MPI_Win_lock_all(0, win); }

static void unlock_all(void) { MPI_Win_unlock_all(win); }

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

static void flush(void) { MPI_Win_flush(peer, win); }

static void flush_all(void) { MPI_Win_flush_all(win); }

static void flush_local(void) { MPI_Win_flush_local(peer, win); }

static void flush_local_all(void) { MPI_Win_flush_local_all(win); }

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

/* ---- Data ------------------------------------------------------------------------------------ */

static void test_delivery(const struct epoch *epoch, int index, bool moves, long wrong_every)
{
    static long so_far;
    const char *name = operations[index].name;
    const bool is_put = operations[index].is_put;
    const int bytes = operations[index].bytes;
    char what[64];
    memset(exposed, is_put ? POISON : SENT, BYTES);
    memset(local, is_put ? SENT : POISON, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    epoch->open();
    operations[index].operate(bytes);
    epoch->complete();
    const unsigned char early = local[0];
    epoch->close();
    MPI_Barrier(MPI_COMM_WORLD);

    so_far++;
    const bool damaged = wrong_every > 0 && so_far % wrong_every == 0;
    const unsigned char *received = is_put ? exposed : local;
    int unexpected = 0;
    for (int i = 0; i < BYTES; i++)
        unexpected += received[i] != (!moves || i >= bytes ? POISON
                                      : i == 0 && damaged  ? WRONG
                                                           : SENT);
    (void)snprintf(what, sizeof what, "%s, %s: unexpected bytes", epoch->name, name);
    check_equal(what, unexpected, 0);
    (void)snprintf(what, sizeof what, "%s, %s: after the synchronisation", epoch->name, name);
    check_equal(what, early, local[0]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_data(bool moves, long wrong_every)
{
    for (int i = 0; i < EPOCHS; i++)
        for (int index = 0; index < OPERATIONS; index++)
            if (epochs[i].passive || !operations[index].has_request)
                test_delivery(&epochs[i], index, moves, wrong_every);
}

/* Both ranks count in the same place, and see each number once. */
static void test_counting(void)
{
    enum { COUNTS = 500, SUM = (2 * COUNTS - 1) * COUNTS };
    const int64_t one = 1;
    int64_t sum = 0;
    memset(exposed, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    lock_all();
    for (int i = 0; i < COUNTS; i++) {
        int64_t number;
        MPI_Fetch_and_op(&one, &number, MPI_INT64_T, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        sum += number;
    }
    unlock_all();
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    check_equal("fetch_and_op: the numbers' sum", (long)sum, SUM);
}

/* ---- Costs ----------------------------------------------------------------------------------- */

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
    check_close("win_flush: its own duration", measure_claim(path, "win_flush", 0, "duration_us"),
                sync_us, 1e-3);
    measure_check(name, "post", costs->post, host, 1);
    measure_check(name, "post and flush", costs->alone,
                  fmax(host, autonomous) + host_part + sync_us + flush_extra, 2);
    measure_check(name, "flush after work", costs->after_work, host_part + sync_us + flush_extra,
                  1);
    measure_check_stream(name, "stream and flush", costs->stream, stream,
                         spacing > gap_us ? STREAM + 1 : 1);
    measure_check(request_name, "post and wait", costs->request,
                  fmax(measure_claim(path, request_name, bytes, "host_us"), autonomous) +
                      host_part + measure_claim(path, request_name, bytes, "extra_us"),
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

static void swap_number(int64_t number)
{
    int64_t before;
    MPI_Fetch_and_op(&number, &before, MPI_INT64_T, peer, 0, MPI_REPLACE, win);
    flush();
}

static void compare_number(int64_t number)
{
    const int64_t expected = number - 1;
    int64_t before;
    MPI_Compare_and_swap(&number, &expected, &before, MPI_INT64_T, peer, 0, win);
    flush();
}

/* Rank 0 writes numbers at rank 1, which sees when they come: both are on one machine, so there is
 * one clock. */
static void test_effect(const char *name, void (*write)(int64_t number))
{
    enum { NUMBERS = 200 };
    static double begun[NUMBERS];
    static double ended[NUMBERS];
    static double unseen[NUMBERS]; /* the last reading of the clock before it was not there */
    static double seen[NUMBERS];   /* the one before it was there */
    const volatile int64_t *const number = (const volatile int64_t *)(void *)exposed;
    memset(exposed, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    lock_all();
    for (int i = 0; i < NUMBERS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            measure_work(5); /* rank 1 looks already */
            begun[i] = check_now_us();
            write(i + 1);
            ended[i] = check_now_us();
            continue;
        }
        int ignored;
        seen[i] = check_now_us();
        do {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ignored, MPI_STATUS_IGNORE);
            unseen[i] = seen[i];
            seen[i] = check_now_us();
        } while (*number <= i);
    }
    unlock_all();
    MPI_Bcast(seen, NUMBERS, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Bcast(unseen, NUMBERS, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    for (int i = 0; i < NUMBERS; i++) {
        seen[i] -= begun[i];
        unseen[i] = ended[i] - unseen[i];
    }
    char what[64];
    (void)snprintf(what, sizeof what, "%s: seen after", name);
    check_at_least(what, measure_middle(seen, NUMBERS), latency_us);
    (void)snprintf(what, sizeof what, "%s: seen before the end", name);
    check_at_least(what, measure_middle(unseen, NUMBERS), sync_us / 2);
}

/* Both ranks have rank 0's lock in turn, for the same. */
static void test_contention(const char *path)
{
    enum { ACQUISITIONS = 150, BOTH = 2 * ACQUISITIONS };
    static double own[ACQUISITIONS]; /* when they were got */
    static double all[BOTH];
    double token;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ACQUISITIONS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        own[i] = check_now_us();
        MPI_Get(&token, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win);
        MPI_Win_flush(0, win);
        MPI_Win_unlock(0, win);
    }
    /* Both ranks are on one machine, so there is one clock. What is usual isn't what was
     * interrupted. */
    MPI_Gather(own, ACQUISITIONS, MPI_DOUBLE, all, ACQUISITIONS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    qsort(all, BOTH, sizeof all[0], measure_compare);
    for (int i = 0; i + 1 < BOTH; i++)
        all[i] = all[i + 1] - all[i];
    const double acquisition_us = measure_middle(all, BOTH - 1) - clock_cost_us;
    MPI_Group_free(&peers);
    MPI_Win_free(&win);
    MPI_Finalize();
    if (rank == 0) {
        const double host = measure_claim(path, "get", sizeof token, "host_us");
        const double duration = latency_us + per_byte_us * sizeof token;
        const double held = sync_us + measure_claim(path, "win_lock", 0, "extra_us") +
                            fmax(host, fraction * duration) + (1 - fraction) * duration + sync_us +
                            measure_claim(path, "win_flush", 0, "extra_us") + sync_us +
                            measure_claim(path, "win_unlock", 0, "extra_us");
        const double asked = 3 * (sync_us + wait_us) + fmax(post_us, fraction * duration) +
                             (1 - fraction) * duration;
        check_close("held: as the report says", held, asked, 0.02 * asked);
        check_close("an acquisition", acquisition_us, held, 0.03 * held);
    }
}

/* One by one and with a flush: of those that have one size. */
static void measure_atomic(operation *operate, double *post_only_us, double *alone_us)
{
    static double post[ITERATIONS];
    static double alone[ITERATIONS];
    for (int i = 0; i < ITERATIONS; i++) {
        measure_work(gap_us);
        const double begin = check_now_us();
        operate(1);
        post[i] = check_now_us() - begin;
        flush();
        alone[i] = check_now_us() - begin - clock_cost_us; /* the reading in the middle */
    }
    *post_only_us = measure_middle(post, ITERATIONS) - clock_cost_us;
    *alone_us = measure_middle(alone, ITERATIONS) - clock_cost_us;
}

static void check_atomic(const char *path, const char *name, double post_only_us, double alone_us)
{
    const double duration = latency_us + per_byte_us;
    const double host = measure_claim(path, name, 1, "host_us");
    check_close("transfer_us", measure_claim(path, name, 1, "transfer_us"), duration, 1e-3);
    measure_check(name, "post", post_only_us, host, 1);
    measure_check(name, "post and flush", alone_us,
                  fmax(host, fraction * duration) + (1 - fraction) * duration + sync_us +
                      measure_claim(path, "win_flush", 0, "extra_us"),
                  2);
}

static void test_costs(const char *path)
{
    const int bytes = BYTES;
    lock_all();
    const struct costs put_costs = measure(put, rput, bytes);
    const struct costs get_costs = measure(get, rget, bytes);
    const struct costs accumulate_costs = measure(accumulate, raccumulate, bytes);
    const struct costs get_accumulate_costs = measure(get_accumulate, rget_accumulate, bytes);
    double fetch_us[2];
    double swap_us[2];
    measure_atomic(fetch_and_op, &fetch_us[0], &fetch_us[1]);
    measure_atomic(compare_and_swap, &swap_us[0], &swap_us[1]);
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
        check_costs(path, "accumulate", "raccumulate", bytes, &accumulate_costs);
        check_costs(path, "get_accumulate", "rget_accumulate", bytes, &get_accumulate_costs);
        check_atomic(path, "fetch_and_op", fetch_us[0], fetch_us[1]);
        check_atomic(path, "compare_and_swap", swap_us[0], swap_us[1]);
        /* What the real ones take differs between ranks. */
        check_close("win_lock", lock_us, sync_us + measure_claim(path, "win_lock", 0, "extra_us"),
                    0.02 * lock_us + 0.1);
        check_close("win_unlock", unlock_us,
                    sync_us + measure_claim(path, "win_unlock", 0, "extra_us"),
                    0.02 * unlock_us + 0.1);
        check_close("win_fence", fence_us,
                    sync_us + measure_claim(path, "win_fence", 0, "extra_us"),
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
    const char *path =
        getenv("MODEL_REPORT"); /* before any thread. NOLINT(concurrency-mt-unsafe) */
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
    if (strcmp(argv[1], "effect") == 0) {
        test_effect("fetch_and_op", swap_number);
        test_effect("compare_and_swap", compare_number);
        MPI_Group_free(&peers);
        MPI_Win_free(&win);
        MPI_Finalize();
        return check_end();
    }
    if (strcmp(argv[1], "contend") == 0) {
        test_contention(path);
        return check_end();
    }
    if (strcmp(argv[1], "right") == 0)
        test_counting();
    test_data(strcmp(argv[1], "untouched") != 0, argc == 3 ? strtol(argv[2], NULL, 10) : 0);
    MPI_Group_free(&peers);
    MPI_Win_free(&win);
    MPI_Finalize();
    return check_end();
}
