/*
 * Do stages and tests cost what model.h says? Times operations with up to 16 tests in work that is
 * longer than they are, with clock readings of its own, and compares what they leave exposed with
 * what the rules in model.h make of the report's host_us, test_us and extra_us. No data moves, so
 * each rank is by itself. To be run under the model with MODEL_P2P=1 and MODEL_RMA=1, equal
 * MODEL_DURATION_US and MODEL_LATENCY_US, and MODEL_REPORT set; the environment says what to
 * expect.
 */
#include "measure.h"
#include "persistent.h"

#include <mpi.h>

enum { ITERATIONS = 150, REQUESTS = 12, BYTES = 8, MANY_BYTES = 24, FLUSHES = 100, TAG = 7 };

static const int tests[] = {0, 1, 4, 16};
enum { TESTS = sizeof tests / sizeof tests[0] };

static const char *path;
static double clock_cost_us;
static double duration_us;
static double fraction;
static double stage_us;
static double test_us; /* as asked for */
static double sync_us;
static int peer;
static char buffer[MANY_BYTES];
static MPI_Win win;

/* ---- What is posted and how it is tested ----------------------------------------------------- */

static void post_allreduce(MPI_Request *request)
{
    static double sent;
    static double received;
    MPI_Iallreduce(&sent, &received, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

#if HAS_PERSISTENT
static MPI_Request started;
static bool is_made;

static void start_allreduce(MPI_Request *request)
{
    static double sent;
    static double received;
    if (!is_made)
        PERSISTENT(Allreduce_init)
    (&sent, &received, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &started);
    is_made = true;
    *request = started;
    MPI_Start(request);
}
#endif

static void post_isend(MPI_Request *request)
{
    MPI_Isend(buffer, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, request);
}

static void post_rput(MPI_Request *request)
{
    MPI_Rput(buffer, BYTES, MPI_BYTE, peer, 0, BYTES, MPI_BYTE, win, request);
}

/* The first half of a halo's requests, and the second. */
static void post_many(MPI_Request *request)
{
    static int posts;
    if (posts++ % REQUESTS < REQUESTS / 2)
        MPI_Irecv(buffer, MANY_BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, request);
    else
        MPI_Isend(buffer, MANY_BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, request);
}

/* Each says whether all are complete: then no more tests are made, since of no request the
 * library's own takes its time. */
static bool poll_one(int count, MPI_Request requests[])
{
    int flag;
    (void)count;
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    return flag;
}

static bool poll_all(int count, MPI_Request requests[])
{
    MPI_Status statuses[REQUESTS];
    int flag;
    MPI_Testall(count, requests, &flag, statuses);
    return flag;
}

static bool poll_any(int count, MPI_Request requests[])
{
    int index;
    int flag;
    MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
    return flag;
}

static bool poll_some(int count, MPI_Request requests[])
{
    MPI_Status statuses[REQUESTS];
    int indices[REQUESTS];
    int outcount;
    MPI_Testsome(count, requests, &outcount, indices, statuses);
    return outcount != 0;
}

static bool poll_status(int count, MPI_Request requests[])
{
    int flag;
    (void)count;
    MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    return false;
}

struct subject {
    const char *what;
    const char *row; /* of the report */
    int bytes;
    int requests;
    void (*post)(MPI_Request *request);
    bool (*poll)(int count, MPI_Request requests[]);
    bool completes; /* a test does */
};

static const struct subject subjects[] = {
    {"Iallreduce, Test", "iallreduce", BYTES, 1, post_allreduce, poll_one, true},
    {"Iallreduce, Testall", "iallreduce", BYTES, 1, post_allreduce, poll_all, true},
#if HAS_PERSISTENT
    {"Allreduce_init, Test", "allreduce_init", BYTES, 1, start_allreduce, poll_one, true},
#endif
    {"Isend, Test", "isend", BYTES, 1, post_isend, poll_one, true},
    {"Isend, Testany", "isend", BYTES, 1, post_isend, poll_any, true},
    {"Isend, Testsome", "isend", BYTES, 1, post_isend, poll_some, true},
    {"Isend, get_status", "isend", BYTES, 1, post_isend, poll_status, false},
    {"Rput, Test", "rput", BYTES, 1, post_rput, poll_one, true},
    {"12 messages, Testall", "isend", MANY_BYTES, REQUESTS, post_many, poll_all, true},
};

enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Usual times in the bare loop, in us, the mean over the ranks. */
struct measured {
    double work;
    double exposed; /* beyond the work */
};

static struct measured measured[SUBJECTS][TESTS];
static double flush_us; /* after a wait */
static double idle_us;  /* a test of nothing active */

static void average(double *values, int count)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        values[i] /= ranks;
}

static double timed_work(double work_us)
{
    const double begin = check_now_us();
    measure_work(work_us);
    return check_now_us() - begin - clock_cost_us;
}

/* Without the iterations whose work was interrupted: there tests came later. Sorts. */
static struct measured usual_of(double work[ITERATIONS], double exposed[ITERATIONS])
{
    static double sorted[ITERATIONS];
    memcpy(sorted, work, sizeof sorted);
    const double longest_us = measure_quickest(sorted, ITERATIONS) + 0.5;
    size_t kept = 0;
    for (int i = 0; i < ITERATIONS; i++) {
        if (work[i] > longest_us)
            continue;
        work[kept] = work[i];
        exposed[kept++] = exposed[i];
    }
    return (struct measured){measure_middle(work, kept), measure_quickest(exposed, kept)};
}

static struct measured measure(const struct subject *subject, int polls)
{
    static double work[ITERATIONS];
    static double exposed[ITERATIONS];
    const double part_us = 2.3 * duration_us / (polls + 1);
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    for (int i = 0; i < ITERATIONS; i++) {
        const double begin = check_now_us();
        for (int request = 0; request < subject->requests; request++)
            subject->post(&requests[request]);
        work[i] = timed_work(part_us);
        bool complete = false;
        for (int poll = 0; poll < polls; poll++) {
            complete = complete || subject->poll(subject->requests, requests);
            work[i] += timed_work(part_us);
        }
        if (subject->requests == 1)
            MPI_Wait(&requests[0], &statuses[0]);
        else
            MPI_Waitall(subject->requests, requests, statuses);
        const double readings_us = (2 * (polls + 1) + 1) * clock_cost_us;
        exposed[i] = check_now_us() - begin - readings_us - work[i];
    }
    struct measured usual = usual_of(work, exposed);
    average(&usual.work, 2);
    return usual;
}

static double measure_flush(void)
{
    static double times[FLUSHES];
    MPI_Request request;
    for (int i = 0; i < FLUSHES; i++) {
        post_rput(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        const double begin = check_now_us();
        MPI_Win_flush(peer, win);
        times[i] = check_now_us() - begin - clock_cost_us;
    }
    double usual = measure_middle(times, FLUSHES);
    average(&usual, 1);
    return usual;
}

static double measure_idle(void)
{
    static double times[FLUSHES];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Send_init(buffer, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < FLUSHES; i++) {
        const double begin = check_now_us();
        poll_one(1, requests);
        poll_all(2, requests);
        poll_any(2, requests);
        poll_some(2, requests);
        poll_status(1, requests);
        times[i] = check_now_us() - begin - clock_cost_us;
    }
    MPI_Request_free(&requests[0]);
    double usual = measure_middle(times, FLUSHES);
    average(&usual, 1);
    return usual;
}

/* ---- What model.h says ----------------------------------------------------------------------- */

/* Also returns by how much the closest decision of a test was made, in us: with less than what
   machines differ by from one time to the next, nobody knows how it goes. */
static double rule(const struct subject *subject, int polls, double work, double *margin)
{
    const double host = measure_claim(path, subject->row, subject->bytes, "host_us");
    const double extra = measure_claim(path, subject->row, subject->bytes, "extra_us");
    const double a_test = measure_claim(path, subject->row, subject->bytes, "test_us");
    const double autonomous = fraction * duration_us;
    const double host_parts = subject->requests * (duration_us - autonomous);
    double end[REQUESTS];
    double left[REQUESTS];
    double now = subject->requests * host;
    *margin = INFINITY;
    for (int i = 0; i < subject->requests; i++) {
        end[i] = i * host + fmin(stage_us, autonomous);
        left[i] = autonomous - fmin(stage_us, autonomous);
    }
    for (int poll = 0; poll < polls; poll++) {
        now += work / (polls + 1);
        bool all_done = true;
        for (int i = 0; i < subject->requests; i++) {
            const double late = now + test_us - end[i];
            *margin = fmin(*margin, fabs(late));
            if (late < 0) {
                all_done = false;
            } else if (left[i] > 0) {
                all_done = false;
                const double next = fmin(stage_us, left[i]);
                end[i] = now + test_us + next;
                left[i] -= next;
                left[i] = left[i] < 1e-3 ? 0 : left[i]; /* no time that the model knows */
            }
        }
        if (all_done && subject->completes)
            return now - work / (polls + 1) * (poll + 1) + test_us + host_parts + extra;
        now += a_test;
    }
    now += work / (polls + 1);
    double all_end = now;
    for (int i = 0; i < subject->requests; i++)
        all_end = fmax(all_end, fmax(end[i], now) + left[i]);
    return all_end - work + host_parts + extra;
}

static void check_subject(const struct subject *subject, const struct measured usual[TESTS])
{
    const double a_test = measure_claim(path, subject->row, subject->bytes, "test_us");
    const double own_us = 0.15 * (subject->requests > 1 ? 5 : 1);
    check_close("a test is c and little more", a_test, test_us + own_us, own_us);
    for (int i = 0; i < TESTS; i++) {
        char text[64];
        double margin;
        const double exposed = rule(subject, tests[i], usual[i].work, &margin);
        (void)snprintf(text, sizeof text, "exposed, %d tests", tests[i]);
        if (margin > 0.3)
            measure_check_within(subject->what, text, usual[i].exposed, exposed,
                                 measure_wider() * fmax(0.03 * (tests[i] + subject->requests + 1),
                                                        0.003 * duration_us));
        else if (check_prints)
            printf("skip %s, %s: decided by %.3f us\n", subject->what, text, margin);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    check_begin(rank == 0);
    path = getenv("MODEL_REPORT"); /* before any thread. NOLINT(concurrency-mt-unsafe) */
    duration_us = measure_asked("MODEL_DURATION_US", 0);
    fraction = measure_asked("MODEL_FRACTION", 1);
    stage_us = measure_asked("MODEL_PROGRESS_US",
                             measure_asked("MODEL_PROGRESS_SHARE", 1) * fraction * duration_us);
    test_us = measure_asked("MODEL_TEST_US", 0);
    sync_us = measure_asked("MODEL_SYNC_US", 0);
    clock_cost_us = measure_clock_cost_us();

    static char memory[BYTES];
    MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < SUBJECTS; i++)
        for (int j = 0; j < TESTS; j++)
            measured[i][j] = measure(&subjects[i], tests[j]);
    flush_us = measure_flush();
    idle_us = measure_idle();
#if HAS_PERSISTENT
    MPI_Request_free(&started);
#endif
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();

    if (rank == 0) {
        for (int i = 0; i < SUBJECTS; i++)
            check_subject(&subjects[i], measured[i]);
        check_close("flush after a wait", flush_us,
                    sync_us + measure_asked("MODEL_WAIT_US", 0) + 0.25, 0.25);
        check_close("five tests of nothing active", idle_us, 0.25, 0.25);
    }
    return check_end();
}
