/*
 * Is what the model claims of point-to-point what a bare loop measures? Times single messages (the
 * post, the post and the wait, the wait after work, the blocking call) and streams of them, with
 * clock readings of its own, and compares what is usual with the report. No data moves, so each
 * rank is by itself. To be run under the model with MODEL_P2P=1, on 2 ranks, with MODEL_REPORT set;
 * the environment says what to expect.
 */
#include "measure.h"

#include <mpi.h>

enum { ITERATIONS = 400, SIZES = 3, STREAM = 256, STREAM_ITERATIONS = 60, TAG = 7 };

/* Sizes of the messages in streams, one a row of the report. A waitall that begins when all
   transfers are over has all its own cost after their completion, any other nearly none, so these
   have rows of their own. */
enum {
    STREAM_BYTES = 16,
    TWO_WAY_BYTES = 24,
    STARTALL_BYTES = 32,
    SENDRECV_BYTES = 40,
    OVER_BYTES = 1
};

static const int sizes_bytes[SIZES] = {8, 1024,
                                       65536}; /* only the first when no byte costs anything */

static const char *path;
static double clock_cost_us;
static double latency_us;
static double per_byte_us;
static double gap_us;
static double fraction;
static double post_us;
static double wait_us;
static double late_share;
static double blocking_us; /* NaN if unset */
static int peer;
static char send_buffer[65536];
static char receive_buffer[65536];

/* MPI_STATUSES_IGNORE. Volatile, since gcc takes the constant for an array of size 0. */
static MPI_Status *volatile no_statuses;

/* A direction's functions, with their names in the report. Persistent requests are made first, and
   have no blocking call but a start and its wait. */
struct direction {
    const char *nonblocking;
    const char *blocking;
    void (*post)(int bytes, MPI_Request *request);
    void (*block)(int bytes);
    void (*prepare)(int bytes, MPI_Request *request);
};

static void post_send(int bytes, MPI_Request *request)
{
    MPI_Isend(send_buffer, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, request);
}

static void block_send(int bytes)
{
    MPI_Send(send_buffer, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
}

static void post_receive(int bytes, MPI_Request *request)
{
    MPI_Irecv(receive_buffer, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, request);
}

static void block_receive(int bytes)
{
    MPI_Recv(receive_buffer, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void prepare_send(int bytes, MPI_Request *request)
{
    MPI_Send_init(send_buffer, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, request);
}

static void prepare_receive(int bytes, MPI_Request *request)
{
    MPI_Recv_init(receive_buffer, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, request);
}

static void start(int bytes, MPI_Request *request)
{
    (void)bytes;
    MPI_Start(request);
}

static const struct direction directions[] = {
    {"isend", "send", post_send, block_send, NULL},
    {"irecv", "recv", post_receive, block_receive, NULL},
    {"send_init", "send_init", start, NULL, prepare_send},
    {"recv_init", "recv_init", start, NULL, prepare_receive},
};

enum { DIRECTIONS = sizeof directions / sizeof directions[0], TWO_WAY_DIRECTIONS = 2 };

/* Usual times in the bare loop, in us, the mean over the ranks. */
struct single {
    double post;
    double alone;
    double wait; /* after work */
    double blocking;
};

struct stream {
    double total;          /* from before the first post until after the waitall; of the quickest */
    double waitall_after;  /* the waitall, begun when all transfers are over */
    double waitall_spread; /* half of what the middle half of those spans */
};

static struct single singles[DIRECTIONS][SIZES];
static struct stream streams[DIRECTIONS];
static struct stream two_way;
static double startall_us; /* of STREAM requests */
static double sendrecv_us;

/* The mean over the ranks of each of the count doubles at values, in place. */
static void average(void *values, int count)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        ((double *)values)[i] /= ranks;
}

static double duration_of(int bytes)
{
    return (latency_us + per_byte_us * bytes) * measure_asked_slowness(bytes);
}

static struct single measure_single(const struct direction *direction, int bytes)
{
    static double post[ITERATIONS];
    static double alone[ITERATIONS];
    static double wait[ITERATIONS];
    static double blocking[ITERATIONS];
    const double work_us = duration_of(bytes) + post_us + gap_us + 5;
    MPI_Request request;
    if (direction->prepare != NULL)
        direction->prepare(bytes, &request);
    for (int i = 0; i < ITERATIONS; i++) {
        measure_work(gap_us); /* so that no message has to wait for the one before it */
        double begin = check_now_us();
        direction->post(bytes, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        alone[i] = check_now_us() - begin;

        measure_work(gap_us);
        begin = check_now_us();
        direction->post(bytes, &request);
        post[i] = check_now_us() - begin;
        measure_work(work_us);
        begin = check_now_us();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wait[i] = check_now_us() - begin;

        if (direction->block != NULL) {
            begin = check_now_us();
            direction->block(bytes);
            blocking[i] = check_now_us() - begin;
        } else {
            blocking[i] = alone[i];
        }
    }
    if (direction->prepare != NULL)
        MPI_Request_free(&request);
    struct single single = {
        .post = measure_middle(post, ITERATIONS) - clock_cost_us,
        .alone = measure_middle(alone, ITERATIONS) - clock_cost_us,
        .wait = measure_middle(wait, ITERATIONS) - clock_cost_us,
        .blocking = measure_middle(blocking, ITERATIONS) - clock_cost_us,
    };
    average(&single, sizeof single / sizeof(double));
    return single;
}

/* Streams of STREAM messages each in one direction, or in both in turn. */
static struct stream measure_stream(int bytes, int first_direction, int last_direction)
{
    static MPI_Request requests[2 * STREAM];
    static double total[STREAM_ITERATIONS];
    static double waitall_after[STREAM_ITERATIONS];
    for (int over = 0; over < 2; over++) {
        int prepared = 0;
        for (int message = 0; message < STREAM; message++)
            for (int direction = first_direction; direction <= last_direction; direction++)
                if (directions[direction].prepare != NULL)
                    directions[direction].prepare(bytes + over * OVER_BYTES, &requests[prepared++]);
        for (int i = 0; i < STREAM_ITERATIONS; i++) {
            int count = 0;
            measure_work(gap_us);
            const double begin = check_now_us();
            for (int message = 0; message < STREAM; message++)
                for (int direction = first_direction; direction <= last_direction; direction++)
                    directions[direction].post(bytes + over * OVER_BYTES, &requests[count++]);
            if (over)
                measure_work(STREAM * gap_us + duration_of(bytes + over * OVER_BYTES) + 5);
            const double waiting = check_now_us();
            MPI_Waitall(count, requests, no_statuses);
            const double end = check_now_us();
            if (over)
                waitall_after[i] = end - waiting;
            else
                total[i] = end - begin - clock_cost_us; /* the reading in the middle */
        }
        while (prepared > 0)
            MPI_Request_free(&requests[--prepared]);
    }
    struct stream stream = {
        .total = measure_quickest(total, STREAM_ITERATIONS) - clock_cost_us,
        .waitall_after = measure_middle(waitall_after, STREAM_ITERATIONS) - clock_cost_us,
    };
    stream.waitall_spread = /* sorted now */
        (waitall_after[3 * STREAM_ITERATIONS / 4] - waitall_after[STREAM_ITERATIONS / 4]) / 2;
    average(&stream, sizeof stream / sizeof(double));
    return stream;
}

static double measure_sendrecv(int bytes)
{
    static double times[ITERATIONS];
    for (int i = 0; i < ITERATIONS; i++) {
        measure_work(gap_us);
        const double begin = check_now_us();
        MPI_Sendrecv(send_buffer, bytes, MPI_BYTE, peer, TAG, receive_buffer, bytes, MPI_BYTE, peer,
                     TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        times[i] = check_now_us() - begin;
    }
    double usual = measure_middle(times, ITERATIONS) - clock_cost_us;
    average(&usual, 1);
    return usual;
}

static double measure_startall(int bytes)
{
    static MPI_Request requests[STREAM];
    static double times[STREAM_ITERATIONS];
    for (int i = 0; i < STREAM; i++)
        prepare_send(bytes, &requests[i]);
    for (int i = 0; i < STREAM_ITERATIONS; i++) {
        const double begin = check_now_us();
        MPI_Startall(STREAM, requests);
        times[i] = check_now_us() - begin;
        MPI_Waitall(STREAM, requests, no_statuses);
    }
    for (int i = 0; i < STREAM; i++)
        MPI_Request_free(&requests[i]);
    double usual = measure_quickest(times, STREAM_ITERATIONS) - clock_cost_us;
    average(&usual, 1);
    return usual;
}

static void check_single(const struct direction *direction, int bytes, const struct single *single)
{
    enum { OWN_COST_NS_MAX = 300 }; /* the model's own cost is in h and x, and must be small */
    const double half_own_us = OWN_COST_NS_MAX / 2e3;
    const double duration = duration_of(bytes);
    const double autonomous = fraction * duration;
    const double host = measure_claim(path, direction->nonblocking, bytes, "host_us");
    const double extra = measure_claim(path, direction->nonblocking, bytes, "extra_us");
    const double blocking_host = measure_claim(path, direction->blocking, bytes, "host_us");
    const double blocking_extra = measure_claim(path, direction->blocking, bytes, "extra_us");
    const bool has_sister = direction->block != NULL && !isnan(blocking_us);
    const double blocking_duration = has_sister ? blocking_us + per_byte_us * bytes : duration;
    const double blocking_autonomous = has_sister ? blocking_duration : autonomous;
    const char *name = direction->nonblocking;

    check_close("transfer_us", measure_claim(path, name, bytes, "transfer_us"), duration, 1e-3);
    check_close("duration_us", measure_claim(path, name, bytes, "duration_us"), duration, 1e-3);
    check_close("fraction", measure_claim(path, name, bytes, "fraction"), fraction, 1e-6);
    check_close("gap_us", measure_claim(path, name, bytes, "gap_us"), gap_us, 1e-6);
    check_close("per_message_us", measure_claim(path, name, bytes, "per_message_us"),
                fmax(host, gap_us), 1e-3);
    check_close("h is o and little more", host, post_us + half_own_us, half_own_us);
    check_close("x is w and little more", extra, wait_us + half_own_us, half_own_us);
    check_close("late share", measure_claim(path, name, bytes, "late_share"), late_share,
                4 * sqrt(late_share * (1 - late_share) / (2.0 * ITERATIONS)));
    measure_check(name, "post", single->post, host, 1);
    measure_check(name, "post and wait", single->alone,
                  fmax(host, autonomous) + duration - autonomous + extra, 2);
    measure_check(name, "wait after work", single->wait, duration - autonomous + extra, 1);
    check_close("duration_us, blocking",
                measure_claim(path, direction->blocking, bytes, "duration_us"), blocking_duration,
                1e-3);
    measure_check(direction->blocking, "call", single->blocking,
                  fmax(blocking_host, blocking_autonomous) + blocking_duration -
                      blocking_autonomous + blocking_extra,
                  2);
}

/* Both transfers at a time, in the rows of send and recv. */
static void check_sendrecv(void)
{
    static const char *const names[] = {"send", "recv"};
    for (int i = 0; i < 2; i++) {
        const double duration = measure_claim(path, names[i], SENDRECV_BYTES, "duration_us");
        const double extra = measure_claim(path, names[i], SENDRECV_BYTES, "extra_us");
        check_close("duration_us of sendrecv", duration, blocking_us + per_byte_us * SENDRECV_BYTES,
                    1e-3);
        measure_check(names[i], "in sendrecv", sendrecv_us, duration + extra, 3);
    }
}

/* posts: in a stream; posting_us: in posts, from one message to the next of the same direction. */
static void check_stream(const char *name, int bytes, int posts, const struct stream *stream,
                         double posting_us)
{
    const double spacing = fmax(posting_us, gap_us);
    const double autonomous = fraction * duration_of(bytes);
    const double host_part = posts * (duration_of(bytes) - autonomous);
    const double extra = measure_claim(path, name, bytes, "extra_us");
    const int over_bytes = bytes + OVER_BYTES;
    const double over_host_part = posts * (1 - fraction) * duration_of(over_bytes);
    const double over_extra = measure_claim(path, name, over_bytes, "extra_us");

    if (late_share > 0)
        return; /* some of so many are */
    check_close("messages a wait",
                measure_claim(path, name, bytes, "operations") /
                    measure_claim(path, name, bytes, "waits"),
                STREAM, 1e-6);
    /* What a gap asks for is exact: then the calls aren't what the stream waits for. */
    const int calls = spacing > gap_us ? posts + 1 : 1;
    const double total =
        fmax((STREAM - 1) * spacing + autonomous, STREAM * posting_us) + host_part + extra;
    measure_check_stream(name, "stream", stream->total, total, calls);
    /* The host parts are rounded to ns, of each message. */
    const double waitall_after = over_host_part + over_extra;
    /* The claim and this are middles of the same waits, with the same spread. */
    const double bound =
        fmax(measure_wider() * fmax(0.05, 8 * clock_cost_us), stream->waitall_spread);
    check_close("waitall after work", stream->waitall_after, waitall_after,
                fmax(bound, 0.02 * waitall_after));
    /* Less than 50 ns of bookkeeping a message, and some for the call. */
    check_close("own cost of that waitall", over_extra - posts * wait_us, posts * 0.025,
                posts * 0.025 + 0.1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    peer = (rank + 1) % ranks;
    no_statuses = MPI_STATUSES_IGNORE;
    check_begin(rank == 0);
    path = getenv("MODEL_REPORT"); /* before any thread. NOLINT(concurrency-mt-unsafe) */
    latency_us = measure_asked("MODEL_LATENCY_US", 0);
    per_byte_us = measure_asked("MODEL_PER_BYTE_NS", 0) / 1e3;
    gap_us = measure_asked("MODEL_GAP_US", 0);
    fraction = measure_asked("MODEL_FRACTION", 1);
    post_us = measure_asked("MODEL_POST_US", 0);
    wait_us = measure_asked("MODEL_WAIT_US", 0);
    late_share = measure_asked("MODEL_LATE_SHARE", 0);
    blocking_us = measure_asked("MODEL_BLOCKING_US", NAN);

    clock_cost_us = measure_clock_cost_us();
    const int sizes = per_byte_us > 0 ? SIZES : 1;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        for (int i = 0; i < sizes; i++)
            singles[direction][i] = measure_single(&directions[direction], sizes_bytes[i]);
        streams[direction] = measure_stream(STREAM_BYTES, direction, direction);
    }
    two_way = measure_stream(TWO_WAY_BYTES, 0, TWO_WAY_DIRECTIONS - 1);
    startall_us = measure_startall(STARTALL_BYTES);
    sendrecv_us = measure_sendrecv(SENDRECV_BYTES);
    MPI_Finalize();

    if (rank == 0) {
        double both_host = 0;
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            const char *name = directions[direction].nonblocking;
            for (int i = 0; i < sizes; i++)
                check_single(&directions[direction], sizes_bytes[i], &singles[direction][i]);
            check_stream(name, STREAM_BYTES, STREAM, &streams[direction],
                         measure_claim(path, name, STREAM_BYTES, "host_us"));
            if (direction < TWO_WAY_DIRECTIONS)
                both_host += measure_claim(path, name, TWO_WAY_BYTES, "host_us");
        }
        const double started = STREAM * measure_claim(path, "send_init", STARTALL_BYTES, "host_us");
        if (!isnan(blocking_us))
            check_sendrecv();
        measure_check_stream("send_init", "startall", startall_us, started, STREAM);
        for (int direction = 0; direction < TWO_WAY_DIRECTIONS; direction++)
            check_stream(directions[direction].nonblocking, TWO_WAY_BYTES, 2 * STREAM, &two_way,
                         both_host);
    }
    return check_end();
}
