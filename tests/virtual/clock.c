/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/virtual/clock.h"

#include "tests/virtual/parameters.h"
#include "tests/virtual/world.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS_MAX = 8 };

/* A stream of interruptions. */
struct stream {
    double gap_ns; /* the mean */
    int64_t length_ns;
    int64_t next_ns; /* when its next one begins */
    uint64_t random;
};

/* Interruptions of a real machine. */
struct record {
    int64_t (*of)[2]; /* start and length in ns */
    int count, next;
    int64_t period_ns, base_ns; /* added to starts */
};

static struct stream streams[STREAMS_MAX];
static int stream_count;
static bool is_periodic;
static struct record record;

/* Times of a real machine, over their median. */
static struct {
    double *factor;
    uint64_t count;
} times;

static int64_t next_ns; /* the earliest interruption of all; INT64_MAX: none */

static struct {
    double on_s, period_s, factor;
    int64_t first_ns; /* when a period began */
} jumps = {.factor = 1.0};

static struct {
    double share, period_s;
} drift;

/* ---- settings -------------------------------------------------------------------------------- */

/* Reads `count` numbers with the separator between them. Returns what follows; NULL if there are
   fewer. */
static const char *read_numbers(const char *text, double numbers[], int count, char separator)
{
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtod(text, &end);
        if (end == text || (i + 1 < count && *end != separator))
            return NULL;
        text = i + 1 < count ? end + 1 : end;
    }
    return text;
}

/* The numbers of a variable, which has colons between them; false if it isn't set. */
static bool read_variable(const char *variable, const char *form, double numbers[], int count)
{
    const char *const text = getenv(variable);
    if (text == NULL)
        return false;
    const char *const rest = read_numbers(text, numbers, count, ':');
    if (rest == NULL || *rest != '\0')
        world_abort("%s has to be %s", variable, form);
    return true;
}

static void read_streams(const char *text)
{
    while (text != NULL) {
        double of[2]; /* rate, length in us */
        text = stream_count < STREAMS_MAX ? read_numbers(text, of, 2, ':') : NULL;
        if (text == NULL || (*text != ',' && *text != '\0'))
            world_abort("DISTURB has to be RATE:US,RATE:US...");
        streams[stream_count++] =
            (struct stream){.gap_ns = 1e9 / of[0], .length_ns = llround(of[1] * 1e3)};
        text = *text == ',' ? text + 1 : NULL;
    }
}

/* Opens a file of numbers behind the comment lines that it begins with. */
static FILE *open_numbers(const char *path)
{
    char comment[256];
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        world_abort("can't read %s", path);
    int first;
    while ((first = getc(file)) == '#' && fgets(comment, sizeof comment, file) != NULL)
        continue;
    (void)ungetc(first, file);
    return file;
}

/* Reads the next number. Returns false at the end of the file. */
static bool read_number(FILE *file, double *number)
{
    char word[64], *end;
    if (fscanf(file, "%63s", word) != 1)
        return false;
    *number = strtod(word, &end);
    return end != word && *end == '\0';
}

static void read_record(const char *path)
{
    double start_us, length_us;
    if (path == NULL)
        return;
    FILE *const file = open_numbers(path);
    while (read_number(file, &start_us) && read_number(file, &length_us)) {
        record.of = world_grow(record.of, (size_t)record.count + 1, sizeof *record.of);
        record.of[record.count][0] = llround(start_us * 1e3);
        record.of[record.count++][1] = llround(length_us * 1e3);
    }
    (void)fclose(file);
    if (record.count == 0)
        world_abort("no interruptions in %s", path);
    const int64_t *const last = record.of[record.count - 1];
    record.period_ns = last[0] + last[1] + record.of[0][0];
}

static void read_times(const char *path)
{
    double factor;
    if (path == NULL)
        return;
    FILE *const file = open_numbers(path);
    while (read_number(file, &factor)) {
        times.factor = world_grow(times.factor, (size_t)times.count + 1, sizeof *times.factor);
        times.factor[times.count++] = factor;
    }
    (void)fclose(file);
    if (times.count == 0)
        world_abort("no times in %s", path);
}

void clock_configure(void)
{
    double of[3];
    const char *const periodic = getenv("DISTURB_PERIODIC");
    is_periodic = periodic != NULL && strcmp(periodic, "1") == 0;
    read_streams(getenv("DISTURB"));
    read_record(getenv("DISTURB_RECORDED"));
    read_times(getenv("DISTURB_TIMES"));
    if (read_variable("DISTURB_JUMPS", "ON_S:PERIOD_S:FACTOR", of, 3)) {
        jumps.on_s = of[0];
        jumps.period_s = of[1];
        jumps.factor = of[2];
    }
    if (read_variable("DISTURB_DRIFT", "SHARE:PERIOD_S", of, 2)) {
        drift.share = of[0];
        drift.period_s = of[1];
    }
}

/* True if DISTURB_RANKS is unset or has this rank. */
static bool is_chosen(void)
{
    const char *text = getenv("DISTURB_RANKS");
    if (text == NULL)
        return true;
    for (char *end; *text != '\0'; text = *end == ',' ? end + 1 : end)
        if (strtol(text, &end, 10) == world_rank)
            return true;
        else if (end == text)
            world_abort("DISTURB_RANKS has to be a list of ranks");
    return false;
}

/* ---- a signal -------------------------------------------------------------------------------- */

static struct {
    int number; /* 0: none, or over */
    int64_t at_ns;
} coming;

static void read_signal(void)
{
    double of[3];
    if (read_variable("VIRTUAL_SIGNAL", "NUMBER:RANK:AT_US", of, 3) && of[1] == world_rank) {
        coming.number = (int)of[0];
        coming.at_ns = llround(of[2] * 1e3);
    }
}

static void raise_signal(void)
{
    const int number = coming.number;
    if (number == 0 || world_now_ns < coming.at_ns)
        return;
    coming.number = 0;
    (void)raise(number);
}

/* ---- interruptions --------------------------------------------------------------------------- */

static void plan_stream(struct stream *stream)
{
    const double gaps = is_periodic ? 1.0 : -log1p(-world_random(&stream->random));
    stream->next_ns += llround(gaps * stream->gap_ns);
}

static int64_t record_start(void) { return record.base_ns + record.of[record.next][0]; }

static void plan_record(void)
{
    if (++record.next == record.count) {
        record.next = 0;
        record.base_ns += record.period_ns;
    }
}

/* The stream with the earliest interruption; NULL: that is a recorded one, or none. */
static struct stream *find_next(void)
{
    struct stream *first = NULL;
    next_ns = record.count > 0 ? record_start() : INT64_MAX;
    for (int i = 0; i < stream_count; i++)
        if (streams[i].next_ns < next_ns) {
            first = &streams[i];
            next_ns = first->next_ns;
        }
    return first;
}

/* Takes the next interruption out of its stream; returns its length. */
static int64_t take_next(void)
{
    struct stream *const stream = find_next();
    const int64_t length_ns = stream != NULL ? stream->length_ns : record.of[record.next][1];
    if (stream != NULL)
        plan_stream(stream);
    else
        plan_record();
    (void)find_next();
    return length_ns;
}

void clock_begin(void)
{
    uint64_t launch = (uint64_t)parameters.seed * 1000003 + (uint64_t)world->launch;
    (void)world_random(&launch);
    if (jumps.period_s > 0.0)
        jumps.first_ns = -llround(world_random(&launch) * jumps.period_s * 1e9);
    uint64_t own = launch * 4099 + (uint64_t)world_rank;
    if (!is_chosen())
        stream_count = record.count = 0;
    for (int i = 0; i < stream_count; i++) {
        streams[i].random = own + (uint64_t)(i + 1) * UINT64_C(0xd1342543de82ef95);
        streams[i].next_ns =
            is_periodic ? llround(world_random(&streams[i].random) * streams[i].gap_ns) : 0;
        if (!is_periodic)
            plan_stream(&streams[i]);
    }
    if (record.count > 0) {
        record.next = (int)(world_random(&own) * record.count);
        record.base_ns = -record.of[record.next][0];
    }
    (void)find_next();
    read_signal();
}

/* ---- time ------------------------------------------------------------------------------------ */

double clock_recorded_factor(uint64_t chances)
{
    if (times.count == 0)
        return 1.0;
    return times.factor[(uint64_t)(world_random(&chances) * (double)times.count)];
}

double clock_factor(void)
{
    double factor = 1.0;
    if (jumps.period_s > 0.0) {
        const double at_s = fmod((double)(world_now_ns - jumps.first_ns) * 1e-9, jumps.period_s);
        factor = at_s < jumps.on_s ? jumps.factor : 1.0;
    }
    if (drift.period_s > 0.0) {
        const double at = fmod((double)world_now_ns * 1e-9 / drift.period_s, 1.0);
        factor *= 1.0 + drift.share * (1.0 - fabs(2.0 * at - 1.0));
    }
    return factor;
}

/* Takes processor time as it comes. */
static void take(int64_t ns)
{
    while (next_ns < world_now_ns + ns) {
        if (next_ns > world_now_ns) {
            ns -= next_ns - world_now_ns;
            world_now_ns = next_ns;
        }
        world_now_ns += take_next();
    }
    world_now_ns += ns;
}

void clock_spend(double ns) { take(llround(ns * clock_factor())); }

/* Continues to this rank's share of a processor, which odd ranks have for two slices, then even
   ones for one. */
static void await_slice(void)
{
    const int64_t slice_ns = (int64_t)parameters.slice_ns, period_ns = 3 * slice_ns;
    if (slice_ns == 0)
        return;
    const int64_t begin_ns = world_now_ns / period_ns * period_ns, at_ns = world_now_ns - begin_ns;
    if (world_rank % 2 == 1 && at_ns >= 2 * slice_ns)
        world_now_ns = begin_ns + period_ns;
    if (world_rank % 2 == 0 && at_ns < 2 * slice_ns)
        world_now_ns = begin_ns + 2 * slice_ns;
}

void clock_until(int64_t at_ns)
{
    const bool waits = world_now_ns < at_ns;
    while (next_ns < at_ns) {
        if (next_ns > world_now_ns)
            world_now_ns = next_ns;
        world_now_ns += take_next();
    }
    if (world_now_ns < at_ns)
        world_now_ns = at_ns;
    if (waits)
        await_slice();
}

void clock_sleep(int64_t ns)
{
    const int64_t end_ns = world_now_ns + ns;
    while (next_ns < end_ns)
        (void)take_next();
    world_now_ns = end_ns;
}

static double taken_ns;

void clock_take_from_work(double ns) { taken_ns = ns; }

void clock_work(uint64_t units)
{
    const double more_ns = units > 0 ? taken_ns : 0.0;
    taken_ns -= more_ns;
    clock_spend((double)units * parameters.work_ns + more_ns);
}

/* The time that clocks show when a launch begins, since those of real machines never show 0 or
 * less. */
#define BOOT_NS INT64_C(1000000000)

int64_t clock_read_ns(void)
{
    const bool odd = world_rank % 2 == 1 && !isnan(parameters.odd_clock_ns);
    take((int64_t)(odd ? parameters.odd_clock_ns : parameters.clock_ns));
    raise_signal();
    const double shown = (double)world_now_ns * (1.0 + world_rank * parameters.clock_ppm * 1e-6);
    const int64_t own_ns =
        BOOT_NS + (world_rank == 0 || parameters.clock_ppm == 0.0 ? world_now_ns : llround(shown)) +
        world_rank * (int64_t)parameters.clock_shift_ns;
    const int64_t step_ns = (int64_t)parameters.resolution_ns;
    return step_ns > 1 ? own_ns / step_ns * step_ns : own_ns;
}

uint64_t clock_read_ticks(void)
{
    const int64_t since_boot_ns = clock_read_ns() - BOOT_NS;
    const int64_t ticks = world_rank % 2 == 1 ? (int64_t)parameters.odd_ticks : 4;
    return (uint64_t)(4 * BOOT_NS + ticks * since_boot_ns);
}

int64_t clock_shift_undo(int64_t shown_ns)
{
    return BOOT_NS +
           llround((double)(shown_ns - BOOT_NS - world_rank * (int64_t)parameters.clock_shift_ns) /
                   (1.0 + world_rank * parameters.clock_ppm * 1e-6));
}
