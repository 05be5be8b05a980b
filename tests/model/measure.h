/* What the tests of costs share: how they time, and the model's report. */
#ifndef MODEL_MEASURE_H
#define MODEL_MEASURE_H

#include "check.h"

#include <inttypes.h>
#include <string.h>

/* Parameters of the model, as the test's environment has them; read before any thread. */
static inline double measure_asked(const char *name, double otherwise)
{
    const char *text = getenv(name); /* NOLINT(concurrency-mt-unsafe) */
    return text != NULL ? strtod(text, NULL) : otherwise;
}

/* By how many times as long operations of so many bytes take as others do. */
static inline double measure_asked_slowness(double bytes)
{
    const bool slow = bytes == measure_asked("MODEL_SLOW_BYTES", -1);
    return slow ? 1 + measure_asked("MODEL_SLOW_SHARE", 0) : 1;
}

/* What a clock reading costs, with its conversion, for which the next reading waits. */
static inline double measure_clock_cost_us(void)
{
    enum { BATCHES = 50, READINGS = 1000 };
    double least = INFINITY;
    for (int batch = 0; batch < BATCHES; batch++) {
        const double begin = check_now_us();
        volatile double end = begin; /* otherwise only the last one would be converted */
        for (int reading = 0; reading < READINGS; reading++)
            end = check_now_us();
        least = fmin(least, (end - begin) / READINGS);
    }
    return least;
}

static inline int measure_compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The mean of the middle half, as in the report: a median moves in steps of the clock, which may be
 * 10 ns. Sorts. */
static inline double measure_middle(double values[], size_t count)
{
    qsort(values, count, sizeof values[0], measure_compare);
    const size_t begin = count / 4;
    const size_t end = count - begin;
    double sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += values[i];
    return sum / (double)(end - begin);
}

/* The mean of the quickest quarter: of streams, which take so long that the usual one may have been
   interrupted. What is random in their calls averages out, so that the quickest ones tell what all
   would take. Sorts. */
static inline double measure_quickest(double values[], size_t count)
{
    qsort(values, count, sizeof values[0], measure_compare);
    const size_t end = (count + 3) / 4;
    double sum = 0;
    for (size_t i = 0; i < end; i++)
        sum += values[i];
    return sum / (double)end;
}

static inline void measure_work(double duration_us)
{
    const double begin = check_now_us();
    while (check_now_us() - begin < duration_us)
        ;
}

static inline void measure_check_within(const char *operation, const char *what, double is_us,
                                        double should_be_us, double tolerance_us)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%s: %s", operation, what);
    check_close(text, is_us, should_be_us, tolerance_us);
}

/*
 * By how many times bounds are wider than on a quiet machine: where a bare loop of clock readings
 * loses more than 1 % of the time, a third more for each percent, at most twice. Looks anew each
 * time.
 */
static inline double measure_wider(void)
{
    enum { DURATION_US = 20000 };
    static const double stop_us = 0.5; /* between two readings */
    double lost_us = 0;
    const double begin = check_now_us();
    double before = begin;
    while (before - begin < DURATION_US) {
        const double now = check_now_us();
        if (now - before > stop_us)
            lost_us += now - before;
        before = now;
    }
    const double lost_pct = 100 * lost_us / (before - begin);
    return lost_pct > 1 ? fmin(1 + lost_pct / 3, 2) : 1;
}

/*
 * Checks the time of so many calls of the model, timed together, against what it claims of them:
 * within 10 ns a call and 10 ns more, or what a reading of the clock costs for each, since where in
 * that time the clock is read isn't known. A call's arguments and its return, a few ns, aren't in
 * the claim; and the clock may move by 10 ns, so that a single interval has one step more or less
 * by how the code around it happens to lie.
 */
static inline void measure_check(const char *operation, const char *what, double is_us,
                                 double should_be_us, int calls)
{
    const double a_call_us = fmax(0.01, measure_clock_cost_us());
    measure_check_within(operation, what, is_us, should_be_us,
                         measure_wider() * fmax(a_call_us * (calls + 1), 0.002 * should_be_us));
}

/* The same, or 1 %, of streams: the longest are interrupted every time. */
static inline void measure_check_stream(const char *operation, const char *what, double is_us,
                                        double should_be_us, int calls)
{
    measure_check_within(operation, what, is_us, should_be_us,
                         measure_wider() * fmax(0.01 * (calls + 1), 0.01 * should_be_us));
}

/* The number of the tab-separated field, from 0; NaN if it is none. */
static inline double measure_field(const char *line, int field)
{
    for (; field > 0 && line != NULL; field--) {
        line = strchr(line, '\t');
        line += line != NULL;
    }
    char *end = NULL;
    const double value = line != NULL ? strtod(line, &end) : NAN;
    return end != line ? value : NAN;
}

/* From the report: a column of the row of this operation and number of bytes. NaN if there is none.
 */
static inline double measure_claim(const char *path, const char *operation, int64_t bytes,
                                   const char *column)
{
    FILE *file = fopen(path, "r");
    char line[512];
    char start[128];
    char wanted[64];
    double value = NAN;
    int field = -1;
    (void)snprintf(start, sizeof start, "%s\t%" PRId64 "\t", operation, bytes);
    (void)snprintf(wanted, sizeof wanted, "\t%s", column);
    if (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *heading = strstr(line, wanted);
        const size_t length = strlen(wanted);
        while (heading != NULL && strchr("\t\n", heading[length]) == NULL)
            heading = strstr(heading + 1, wanted);
        if (heading != NULL)
            for (field = 1; heading > line; heading--)
                field += heading[-1] == '\t';
    }
    while (field >= 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, start, strlen(start)) == 0)
            value = measure_field(line, field);
    if (file != NULL)
        (void)fclose(file);
    return value;
}

#endif
