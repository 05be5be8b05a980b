/*
 * A library to be preloaded that interrupts ranks from MPI_Init to MPI_Finalize, as daemons,
 * interrupts and the host of a virtual machine do.
 *
 *   DISTURB         "RATE:MICROSECONDS[,RATE:MICROSECONDS...]": up to 8 streams of stops. Each has
 *                   RATE stops a second of that length, with exponentially distributed gaps.
 *   DISTURB_JUMPS   "ON_S:PERIOD_S:FACTOR": in ON_S of every PERIOD_S seconds what lies between two
 *                   readings of the clock takes FACTOR times as long, on all ranks of a machine.
 *
 * Stops of 40 us or more are a timer's signal, whose handler spins: 15 to 20 us are the least that
 * such a stop takes on a virtual machine. Shorter ones come with the first reading of
 * CLOCK_MONOTONIC after they were due, which returns when the stop is over. Sleeps aren't
 * interrupted. Of a rank's threads only the one that called MPI_Init is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))

enum { STREAMS_MAX = 8 };

/* Shorter stops are by readings. */
#define TIMER_MIN_NS 40000

/* Longer than this without a reading a program doesn't work, but wait. */
#define WORK_MAX_NS 10000000

static struct stream {
    double gap_ns; /* the mean, from one stop's end to the next one's beginning */
    int64_t length_ns;
    volatile int64_t planned_ns; /* when its next stop is due */
    unsigned short random[3];
    timer_t timer;
} streams[STREAMS_MAX];
static int stream_count;

static struct {
    double factor; /* 1: none */
    int64_t on_ns, period_ns;
    int64_t worked_ns; /* what was worked until then is slowed down */
} jumps = {.factor = 1.0};

static volatile bool is_at_work;

/* Whether this thread is the one to be stopped. */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_disturbed;

/* The next definition of a function, which other libraries may have put before theirs, too. */
static void *next_definition(const char *name)
{
    void *const definition = dlsym(RTLD_NEXT, name);
    if (definition == NULL) {
        (void)fprintf(stderr, "disturbance: there is no %s\n", name);
        abort();
    }
    return definition;
}

static int (*next_clock_gettime)(clockid_t clock, struct timespec *time);

/* Others' constructors may read the clock before this one is called. */
__attribute__((constructor)) static void find_clock(void)
{
    *(void **)&next_clock_gettime = next_definition("clock_gettime");
}

static int64_t nanoseconds(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static int64_t now_ns(void)
{
    struct timespec now;
    (void)next_clock_gettime(CLOCK_MONOTONIC, &now);
    return nanoseconds(&now);
}

/* ---- stops ----------------------------------------------------------------------------------- */

static bool is_by_timer(const struct stream *stream) { return stream->length_ns >= TIMER_MIN_NS; }

/* Spins. Returns the last reading of the clock. */
static int64_t stop_until(int64_t end_ns)
{
    int64_t reading_ns;
    do
        reading_ns = now_ns();
    while (reading_ns < end_ns);
    return reading_ns;
}

static void plan_next(struct stream *stream, int64_t from_ns)
{
    stream->planned_ns = from_ns + llround(-log1p(-erand48(stream->random)) * stream->gap_ns);
    if (is_by_timer(stream)) {
        const struct itimerspec at = {.it_value = time_of(stream->planned_ns)};
        (void)timer_settime(stream->timer, TIMER_ABSTIME, &at, NULL);
    }
}

/* One that nobody else uses. */
static int timer_signal(void) { return SIGRTMIN + 8; }

/* What the interrupt took to come is part of the stop, unless the rank slept meanwhile. */
static void on_timer(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    const int saved_errno = errno;
    struct stream *const stream = &streams[info->si_value.sival_int];
    const int64_t entered_ns = now_ns();
    if (is_at_work) {
        const bool slept = entered_ns > stream->planned_ns + stream->length_ns;
        const int64_t from_ns = slept ? entered_ns : stream->planned_ns;
        plan_next(stream, stop_until(from_ns + stream->length_ns));
    }
    errno = saved_errno;
}

/* Makes up for what was worked since the last reading. */
static int64_t slow_down(int64_t reading_ns)
{
    const int64_t jump_ns = reading_ns - reading_ns % jumps.period_ns;
    const int64_t from_ns = jumps.worked_ns > jump_ns ? jumps.worked_ns : jump_ns;
    const int64_t jump_end_ns = jump_ns + jumps.on_ns;
    const int64_t until_ns = reading_ns < jump_end_ns ? reading_ns : jump_end_ns;
    const double work_ns = fmin((double)(until_ns - from_ns), WORK_MAX_NS);
    if (work_ns > 0.0)
        reading_ns = stop_until(reading_ns + llround((jumps.factor - 1.0) * work_ns));
    jumps.worked_ns = reading_ns;
    return reading_ns;
}

HOOK int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (next_clock_gettime == NULL)
        find_clock();
    const int status = next_clock_gettime(clock, time);
    if (!is_disturbed || clock != CLOCK_MONOTONIC)
        return status;
    int64_t reading_ns = nanoseconds(time);
    for (int i = 0; i < stream_count; i++)
        if (!is_by_timer(&streams[i]) && streams[i].planned_ns <= reading_ns) {
            reading_ns = stop_until(reading_ns + streams[i].length_ns);
            plan_next(&streams[i], reading_ns);
        }
    if (jumps.factor > 1.0)
        reading_ns = slow_down(reading_ns);
    *time = time_of(reading_ns);
    return status;
}

/* ---- sleeps ---------------------------------------------------------------------------------- */

/* Blocks the timers' signal, or lets it come again. */
static void mask_timers(int how)
{
    sigset_t timers;
    (void)sigemptyset(&timers);
    (void)sigaddset(&timers, timer_signal());
    (void)pthread_sigmask(how, &timers, NULL);
}

HOOK int nanosleep(const struct timespec *asked, struct timespec *left)
{
    int (*next)(const struct timespec *, struct timespec *);
    *(void **)&next = next_definition("nanosleep");
    mask_timers(SIG_BLOCK);
    const int status = next(asked, left);
    mask_timers(SIG_UNBLOCK);
    return status;
}

HOOK int clock_nanosleep(clockid_t clock, int flags, const struct timespec *asked,
                         struct timespec *left)
{
    int (*next)(clockid_t, int, const struct timespec *, struct timespec *);
    *(void **)&next = next_definition("clock_nanosleep");
    mask_timers(SIG_BLOCK);
    const int status = next(clock, flags, asked, left);
    mask_timers(SIG_UNBLOCK);
    return status;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* Reads `count` numbers with colons between them; returns what follows, or NULL where they are
 * fewer. */
static const char *read_numbers(const char *text, double numbers[], int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtod(text, &end);
        if (end == text || (i + 1 < count && *end != ':'))
            return NULL;
        text = i + 1 < count ? end + 1 : end;
    }
    return text;
}

static void read_settings(void)
{
    const char *text = getenv("DISTURB");
    double of[3]; /* rate, length in us; seconds on, period, factor */
    while (text != NULL && *text != '\0') {
        text = stream_count < STREAMS_MAX ? read_numbers(text, of, 2) : NULL;
        if (text == NULL) {
            (void)fprintf(stderr, "disturbance: DISTURB is no list of streams\n");
            exit(2);
        }
        text += *text == ',';
        streams[stream_count++] =
            (struct stream){.gap_ns = 1e9 / of[0] - of[1] * 1e3, .length_ns = llround(of[1] * 1e3)};
    }
    text = getenv("DISTURB_JUMPS");
    if (text != NULL && read_numbers(text, of, 3) != NULL) {
        jumps.on_ns = llround(of[0] * 1e9);
        jumps.period_ns = llround(of[1] * 1e9);
        jumps.factor = of[2];
    }
}

static void create_timer(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = timer_signal(),
                             .sigev_value.sival_int = number};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid); /* sigev_notify_thread_id has no name here */
    if (timer_create(CLOCK_MONOTONIC, &event, &streams[number].timer) != 0) {
        perror("disturbance: timer_create");
        exit(1);
    }
}

static void begin(void)
{
    struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_RESTART | SA_SIGINFO};
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(timer_signal(), &action, NULL);
    read_settings();
    is_at_work = true;
    jumps.worked_ns = now_ns();
    for (int i = 0; i < stream_count; i++) {
        streams[i].random[0] = (unsigned short)getpid();
        streams[i].random[1] = (unsigned short)i;
        if (is_by_timer(&streams[i]))
            create_timer(i);
        plan_next(&streams[i], now_ns());
    }
    is_disturbed = true;
}

/* MPI_SUCCESS is 0 in any library. */

HOOK int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***);
    *(void **)&next = next_definition("MPI_Init");
    const int error = next(argc, argv);
    if (error == 0)
        begin();
    return error;
}

HOOK int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int (*next)(int *, char ***, int, int *);
    *(void **)&next = next_definition("MPI_Init_thread");
    const int error = next(argc, argv, required, provided);
    if (error == 0)
        begin();
    return error;
}

HOOK int MPI_Finalize(void)
{
    int (*next)(void);
    *(void **)&next = next_definition("MPI_Finalize");
    is_at_work = false;
    is_disturbed = false;
    return next();
}
