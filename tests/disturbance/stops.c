#include "stops.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* No stop of jumps is shorter than about a reading of the clock: less than this stays owed. */
#define SHORTEST_NS 20.0

/* Longer than this without a reading a program doesn't work, but wait. */
#define WORK_MAX_NS 10000000

/* Readings of the processor's time differ from the clock's by less than this, and a thousandth of
   the time between two of them, unless somebody else had the processor. Work that is shorter isn't
   looked at. */
#define ELSEWHERE_NS 50000

/* Stops of a stream whose lengths are kept. */
enum { LENGTHS_MAX = 4096 };

struct stream {
    bool by_timer;
    bool is_periodic;
    double gap_ns; /* the mean */
    int64_t length_ns;
    uint64_t random;
    timer_t timer;
    volatile int64_t planned_ns; /* when its next stop is due */
    volatile struct tally tally;
    int64_t lengths_ns[LENGTHS_MAX]; /* of its first stops */
};

static struct stream streams[STREAMS_MAX];
static int stream_count;
static int64_t begin_ns, life_ns, slept_ns;
static volatile bool is_at_work;

/* When the next stop by readings is due. */
static int64_t due_ns = INT64_MAX;

/* What a stop by a timer takes, of which its handler sees only a part. */
static struct {
    int64_t lead_ns;  /* from when it was due to when the rank was stopped; may be below 0 */
    int64_t leave_ns; /* from the handler's last reading to when the rank went on */
    int64_t cost_ns;  /* of a handler that doesn't spin */
} timer_costs;

/* When the last stop by a timer was over, and how long all of them took. */
static volatile int64_t timer_end_ns;
static volatile int64_t timer_stopped_ns;

/* When streams stop the rank; all zeros: always. */
static struct {
    int64_t on_ns, period_ns;
} turns;

static struct {
    double factor; /* 1: no jumps */
    int64_t first_ns, on_ns, period_ns;
    volatile int64_t mark_ns;         /* what was worked until then is slowed down */
    double owed_ns;                   /* stops still to be made; below 0: the last were too long */
    int64_t checked_ns, processor_ns; /* the last look at the processor's time */
    struct tally tally;
} jumps = {.factor = 1.0};

/* ---- time and chance ------------------------------------------------------------------------- */

/* The next pseudo-random number (SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom
   Number Generators", OOPSLA 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* In [0, 1). */
static double next_uniform(uint64_t *state) { return (double)(next_random(state) >> 11) * 0x1p-53; }

static bool is_in_turn(int64_t at_ns)
{
    return turns.period_ns == 0 || at_ns % turns.period_ns < turns.on_ns;
}

/* Moves to the next stop: the gap counts from when this one was due, so that the rate holds. Where
   no stop falls into a turn, since gaps are as long as the turns' period, the next turn begins with
   one. */
static void plan_next(struct stream *stream)
{
    enum { TRIES = 10000 };
    for (int i = 0; i < TRIES; i++) {
        const double gaps = stream->is_periodic ? 1.0 : -log1p(-next_uniform(&stream->random));
        stream->planned_ns += llround(gaps * stream->gap_ns);
        if (is_in_turn(stream->planned_ns))
            return;
    }
    stream->planned_ns += turns.period_ns - stream->planned_ns % turns.period_ns;
}

/* What was stopped isn't work. */
static void count(volatile struct tally *tally, int64_t from_ns, int64_t stopped_ns)
{
    tally->stops++;
    tally->stopped_ns += stopped_ns;
    if (jumps.mark_ns < from_ns)
        jumps.mark_ns += stopped_ns;
}

/* After the stop was counted. */
static void keep_length(struct stream *stream, int64_t length_ns)
{
    if (stream->tally.stops <= LENGTHS_MAX)
        stream->lengths_ns[stream->tally.stops - 1] = length_ns;
}

/* ---- by a timer ------------------------------------------------------------------------------ */

/* One that nobody else uses. */
static int timer_signal(void) { return SIGRTMIN + 8; }

static void arm(const struct stream *stream)
{
    const int64_t at_ns = stream->planned_ns;
    const struct itimerspec at = {
        .it_value = {.tv_sec = at_ns / 1000000000, .tv_nsec = at_ns % 1000000000}};
    (void)timer_settime(stream->timer, TIMER_ABSTIME, &at, NULL);
}

/* What the handler notes while costs are measured. */
static volatile struct {
    bool is_on, has_fired;
    int64_t left_ns;
} trial;

/* A stop of no length. */
static void try_stop(struct stream *stream)
{
    stream->planned_ns += 1000000000;
    arm(stream);
    trial.has_fired = true;
    trial.left_ns = clock_unstopped_ns();
}

/* The rank has been stopped not since the handler was entered, but since the interrupt began, which
   may have taken longer than usual; or since the stop before this one. */
static void stop_by_timer(struct stream *stream)
{
    int64_t from_ns = stream->planned_ns + timer_costs.lead_ns;
    if (from_ns < timer_end_ns)
        from_ns = timer_end_ns;
    plan_next(stream);
    arm(stream);
    const int64_t last_ns = from_ns + stream->length_ns - timer_costs.leave_ns;
    int64_t now_ns;
    do
        now_ns = clock_unstopped_ns();
    while (now_ns < last_ns);
    timer_end_ns = now_ns + timer_costs.leave_ns;
    timer_stopped_ns += timer_end_ns - from_ns;
    count(&stream->tally, from_ns, timer_end_ns - from_ns);
    keep_length(stream, timer_end_ns - from_ns);
}

static void on_timer(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    const int saved_errno = errno;
    const int64_t entered_ns = clock_unstopped_ns();
    struct stream *const stream = &streams[info->si_value.sival_int];
    if (trial.is_on)
        try_stop(stream);
    else if (is_at_work && entered_ns >= stream->planned_ns)
        stop_by_timer(stream);
    else if (is_at_work) /* it was put off meanwhile */
        arm(stream);
    errno = saved_errno;
}

static int compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

enum { TRIALS = 201 };

static int64_t median_ns(int64_t values_ns[TRIALS])
{
    qsort(values_ns, TRIALS, sizeof *values_ns, compare);
    return values_ns[TRIALS / 2];
}

/* Takes some 15 ms. */
static void measure_timer(struct stream *stream)
{
    enum { AHEAD_NS = 50000 };
    int64_t lead_ns[TRIALS], leave_ns[TRIALS], cost_ns[TRIALS];
    trial.is_on = true;
    for (int i = 0; i < TRIALS; i++) {
        int64_t now_ns = clock_unstopped_ns();
        int64_t before_ns = now_ns;
        const int64_t planned_ns = now_ns + AHEAD_NS;
        trial.has_fired = false;
        stream->planned_ns = planned_ns;
        arm(stream);
        while (!trial.has_fired) {
            before_ns = now_ns;
            now_ns = clock_unstopped_ns();
        }
        if (now_ns < trial.left_ns) { /* the last reading was before the stop */
            before_ns = now_ns;
            now_ns = clock_unstopped_ns();
        }
        lead_ns[i] = before_ns - planned_ns;
        leave_ns[i] = now_ns - trial.left_ns;
        cost_ns[i] = now_ns - before_ns;
    }
    trial.is_on = false;
    timer_costs.lead_ns = median_ns(lead_ns);
    timer_costs.leave_ns = median_ns(leave_ns);
    timer_costs.cost_ns = median_ns(cost_ns);
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

/* ---- by readings ----------------------------------------------------------------------------- */

/* A timer's stop in the middle of this one makes it end later. Returns the last reading. */
static int64_t stop_by_reading(volatile struct tally *tally, int64_t from_ns, int64_t length_ns)
{
    const int64_t timers_before_ns = timer_stopped_ns;
    int64_t now_ns, stopped_ns;
    do {
        now_ns = clock_unstopped_ns();
        stopped_ns = now_ns - from_ns - (timer_stopped_ns - timers_before_ns);
    } while (stopped_ns < length_ns);
    count(tally, from_ns, stopped_ns);
    return now_ns;
}

/* Not what another process had the processor for. */
static int64_t processor_time_ns(void)
{
    struct timespec used;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static int64_t begin_of_period_ns(int64_t now_ns)
{
    const int64_t into_ns = (now_ns - jumps.first_ns) % jumps.period_ns;
    return now_ns - into_ns - (into_ns < 0 ? jumps.period_ns : 0);
}

/* For how long somebody else had the processor since the last look at its time. */
static int64_t elsewhere_ns(int64_t now_ns)
{
    const int64_t processor_ns = processor_time_ns();
    const int64_t passed_ns = now_ns - jumps.checked_ns;
    const int64_t lacking_ns = passed_ns - (processor_ns - jumps.processor_ns);
    jumps.checked_ns = now_ns;
    jumps.processor_ns = processor_ns;
    return lacking_ns > ELSEWHERE_NS + passed_ns / 1000 ? lacking_ns : 0;
}

/* Stops for what was worked in the jump that was last. Returns the last reading. */
static int64_t slow_down(int64_t now_ns)
{
    const int64_t jump_ns = begin_of_period_ns(now_ns);
    const int64_t jump_end_ns = jump_ns + jumps.on_ns;
    const int64_t until_ns = now_ns < jump_end_ns ? now_ns : jump_end_ns;
    int64_t worked_ns = until_ns - (jumps.mark_ns > jump_ns ? jumps.mark_ns : jump_ns);
    if (worked_ns <= 0)
        return now_ns;
    /* A look at the processor's time is a system call. */
    if (worked_ns >= ELSEWHERE_NS)
        worked_ns -= elsewhere_ns(now_ns);
    if (worked_ns > WORK_MAX_NS)
        worked_ns = WORK_MAX_NS;
    jumps.mark_ns = now_ns;
    if (worked_ns > 0)
        jumps.owed_ns += (jumps.factor - 1.0) * (double)worked_ns;
    if (jumps.owed_ns < SHORTEST_NS)
        return now_ns;
    const int64_t before_ns = jumps.tally.stopped_ns;
    const int64_t end_ns = stop_by_reading(&jumps.tally, now_ns, llround(jumps.owed_ns));
    /* What somebody else took meanwhile isn't paid back. */
    jumps.owed_ns -= (double)(jumps.tally.stopped_ns - before_ns);
    jumps.owed_ns = fmax(jumps.owed_ns, -10.0 * SHORTEST_NS);
    jumps.mark_ns = end_ns;
    return end_ns;
}

/* When slow_down has something to do. */
static int64_t jumps_due_ns(int64_t now_ns)
{
    const int64_t jump_ns = begin_of_period_ns(now_ns);
    const int64_t next_ns = now_ns < jump_ns + jumps.on_ns ? jump_ns : jump_ns + jumps.period_ns;
    return (jumps.mark_ns > next_ns ? jumps.mark_ns : next_ns) + 1;
}

static void find_due(int64_t now_ns)
{
    due_ns = jumps.factor > 1.0 ? jumps_due_ns(now_ns) : INT64_MAX;
    for (int i = 0; i < stream_count; i++)
        if (!streams[i].by_timer && streams[i].planned_ns < due_ns)
            due_ns = streams[i].planned_ns;
}

int64_t stops_due_ns(void) { return due_ns; }

int64_t stops_make(int64_t now_ns)
{
    for (int i = 0; i < stream_count; i++) {
        struct stream *const stream = &streams[i];
        while (!stream->by_timer && stream->planned_ns <= now_ns) {
            const int64_t before_ns = stream->tally.stopped_ns;
            now_ns = stop_by_reading(&stream->tally, now_ns, stream->length_ns);
            keep_length(stream, stream->tally.stopped_ns - before_ns);
            plan_next(stream);
        }
    }
    if (jumps.factor > 1.0)
        now_ns = slow_down(now_ns);
    find_due(now_ns);
    return now_ns;
}

double stops_factor(int64_t now_ns)
{
    return jumps.factor > 1.0 && now_ns < begin_of_period_ns(now_ns) + jumps.on_ns ? jumps.factor
                                                                                   : 1.0;
}

void stops_modelled_until(int64_t end_ns)
{
    if (jumps.factor > 1.0 && jumps.mark_ns < end_ns) {
        jumps.mark_ns = end_ns;
        find_due(end_ns);
    }
}

/* ---- asleep ---------------------------------------------------------------------------------- */

static sigset_t mask_awake;
static int64_t asleep_ns;

void stops_sleep(void)
{
    sigset_t timers;
    (void)sigemptyset(&timers);
    (void)sigaddset(&timers, timer_signal());
    (void)pthread_sigmask(SIG_BLOCK, &timers, &mask_awake);
    asleep_ns = clock_unstopped_ns();
}

void stops_wake(void)
{
    const int saved_errno = errno;
    const int64_t now_ns = clock_unstopped_ns();
    slept_ns += now_ns - asleep_ns;
    for (int i = 0; i < stream_count; i++) {
        const bool is_past = streams[i].planned_ns <= now_ns;
        while (streams[i].planned_ns <= now_ns)
            plan_next(&streams[i]);
        if (is_past && streams[i].by_timer)
            arm(&streams[i]);
    }
    jumps.mark_ns = jumps.checked_ns = now_ns;
    jumps.processor_ns = processor_time_ns();
    find_due(now_ns);
    (void)pthread_sigmask(SIG_SETMASK, &mask_awake, NULL);
    errno = saved_errno;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void begin_jumps(const struct settings *settings)
{
    uint64_t random = settings->seed; /* without the rank */
    jumps.period_ns = llround(settings->period_s * 1e9);
    jumps.on_ns = llround(settings->on_s * 1e9);
    jumps.first_ns = (int64_t)(next_uniform(&random) * (double)jumps.period_ns);
    jumps.mark_ns = jumps.checked_ns = begin_ns;
    jumps.processor_ns = processor_time_ns();
    if (settings->is_chosen)
        jumps.factor = settings->factor;
}

static void catch_signal(void)
{
    struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_RESTART | SA_SIGINFO};
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(timer_signal(), &action, NULL);
}

void stops_begin(const struct settings *settings)
{
    catch_signal();
    if (settings->is_chosen)
        stream_count = settings->streams;
    turns.on_ns = llround(settings->turn_s * 1e9);
    turns.period_ns = llround(settings->turns_period_s * 1e9);
    for (int i = 0; i < stream_count; i++) {
        const struct stream_settings *const asked = &settings->stream[i];
        uint64_t random = settings->seed;
        random = next_random(&random) + (uint64_t)settings->rank * STREAMS_MAX + (uint64_t)i;
        streams[i] = (struct stream){
            .by_timer = asked->by_timer,
            .is_periodic = settings->is_periodic,
            .gap_ns = 1e9 / asked->rate,
            .length_ns = llround(asked->length_us * 1e3),
            .random = next_random(&random),
        };
        if (asked->by_timer) {
            create_timer(i);
            if (timer_costs.cost_ns == 0)
                measure_timer(&streams[i]);
        }
    }
    begin_ns = clock_unstopped_ns();
    for (int i = 0; i < stream_count; i++) {
        /* In the middle of a gap, or all periodic streams would start together. */
        streams[i].planned_ns = begin_ns;
        if (streams[i].is_periodic)
            streams[i].planned_ns -=
                (int64_t)(next_uniform(&streams[i].random) * streams[i].gap_ns);
        plan_next(&streams[i]);
    }
    if (settings->factor > 1.0)
        begin_jumps(settings);
    is_at_work = true;
    for (int i = 0; i < stream_count; i++)
        if (streams[i].by_timer)
            arm(&streams[i]);
    find_due(begin_ns);
}

void stops_end(void)
{
    is_at_work = false;
    for (int i = 0; i < stream_count; i++)
        if (streams[i].by_timer)
            (void)timer_delete(streams[i].timer);
    life_ns = clock_unstopped_ns() - begin_ns;
    due_ns = INT64_MAX;
}

/* ---- for the log ----------------------------------------------------------------------------- */

struct tally stops_of_stream(int stream)
{
    if (stream >= stream_count)
        return (struct tally){0, 0};
    return (struct tally){streams[stream].tally.stops, streams[stream].tally.stopped_ns};
}

int64_t stops_usual_ns(int stream)
{
    const int64_t stops = stream < stream_count ? streams[stream].tally.stops : 0;
    const size_t kept = stops < LENGTHS_MAX ? (size_t)stops : LENGTHS_MAX;
    if (kept == 0)
        return 0;
    qsort(streams[stream].lengths_ns, kept, sizeof(int64_t), compare);
    return streams[stream].lengths_ns[kept / 2];
}

struct tally stops_of_jumps(void) { return jumps.tally; }

int64_t stops_timer_cost_ns(void) { return timer_costs.cost_ns; }

int64_t stops_life_ns(void) { return life_ns; }

int64_t stops_slept_ns(void) { return slept_ns; }

int64_t stops_jumps_first_ns(void) { return jumps.first_ns; }
