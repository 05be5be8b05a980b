#include "settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shorter stops are by readings. */
#define TIMER_MIN_US 40.0

/* Streams may stop a rank for this share of its time. */
#define SHARE_MAX 0.9

static _Noreturn void refuse(const char *name, const char *what)
{
    (void)fprintf(stderr, "disturbance: %s=%s: must be %s\n", name, getenv(name), what);
    exit(2);
}

/* Reads a number, and `end` after it unless that is 0. Moves *text behind both; false, if there is
   something else. */
static bool read_number(const char **text, double *number, char end)
{
    char *rest;
    *number = strtod(*text, &rest);
    if (rest == *text || !isfinite(*number) || (end != '\0' && *rest != end))
        return false;
    *text = rest + (end != '\0');
    return true;
}

static void read_streams(struct settings *settings)
{
    static const char name[] = "DISTURB";
    const char *text = getenv(name);
    double share = 0.0;
    while (text != NULL && *text != '\0') {
        if (settings->streams == STREAMS_MAX)
            refuse(name, "8 streams at most");
        struct stream_settings *const stream = &settings->stream[settings->streams++];
        if (!read_number(&text, &stream->rate, ':') ||
            !read_number(&text, &stream->length_us, '\0') || stream->rate <= 0.0 ||
            stream->length_us <= 0.0 || (*text != '\0' && (*text != ',' || text[1] == '\0')))
            refuse(name, "RATE:MICROSECONDS[,RATE:MICROSECONDS...]");
        text += *text == ',';
        stream->by_timer = stream->length_us >= TIMER_MIN_US;
        share += stream->rate * stream->length_us * 1e-6;
    }
    if (share > SHARE_MAX)
        refuse(name, "stops of at most 90 % of the time together");
}

static void read_how(struct settings *settings)
{
    const char *const by = getenv("DISTURB_BY");
    const char *const periodic = getenv("DISTURB_PERIODIC");
    if (by != NULL && strcmp(by, "timer") != 0 && strcmp(by, "readings") != 0)
        refuse("DISTURB_BY", "timer or readings");
    for (int i = 0; by != NULL && i < settings->streams; i++)
        settings->stream[i].by_timer = strcmp(by, "timer") == 0;
    if (periodic != NULL && strcmp(periodic, "0") != 0 && strcmp(periodic, "1") != 0)
        refuse("DISTURB_PERIODIC", "0 or 1");
    settings->is_periodic = periodic != NULL && *periodic == '1';
}

static void read_jumps(struct settings *settings)
{
    static const char name[] = "DISTURB_JUMPS";
    const char *text = getenv(name);
    settings->factor = 1.0;
    if (text == NULL || *text == '\0')
        return;
    if (!read_number(&text, &settings->on_s, ':') ||
        !read_number(&text, &settings->period_s, ':') ||
        !read_number(&text, &settings->factor, '\0') || *text != '\0')
        refuse(name, "ON_S:PERIOD_S:FACTOR");
    if (settings->on_s <= 0.0 || settings->on_s > settings->period_s || settings->factor < 1.0 ||
        settings->factor > 10.0)
        refuse(name, "ON_S:PERIOD_S:FACTOR, 0 < ON_S <= PERIOD_S, 1 <= FACTOR <= 10");
}

static void read_turns(struct settings *settings)
{
    static const char name[] = "DISTURB_TURNS";
    const char *text = getenv(name);
    if (text == NULL || *text == '\0')
        return;
    if (!read_number(&text, &settings->turn_s, ':') ||
        !read_number(&text, &settings->turns_period_s, '\0') || *text != '\0' ||
        settings->turn_s <= 0.0 || settings->turn_s > settings->turns_period_s)
        refuse(name, "ON_S:PERIOD_S, 0 < ON_S <= PERIOD_S");
}

static void read_ranks(struct settings *settings)
{
    static const char name[] = "DISTURB_RANKS";
    const char *text = getenv(name);
    settings->is_chosen = text == NULL || *text == '\0';
    while (text != NULL && *text != '\0') {
        double rank;
        if (!read_number(&text, &rank, '\0') || rank < 0.0 || rank != floor(rank) ||
            (*text != '\0' && (*text != ',' || text[1] == '\0')))
            refuse(name, "RANK[,RANK...]");
        text += *text == ',';
        settings->is_chosen = settings->is_chosen || rank == (double)settings->rank;
    }
}

static void read_seed(struct settings *settings)
{
    const char *text = getenv("DISTURB_SEED");
    double seed = (double)getppid();
    if (text != NULL && (!read_number(&text, &seed, '\0') || *text != '\0' || seed != floor(seed) ||
                         fabs(seed) > 0x1p53))
        refuse("DISTURB_SEED", "an integer");
    settings->seed = (uint64_t)(int64_t)seed;
}

bool settings_read(struct settings *settings)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
    const char *rank = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && rank == NULL; i++)
        rank = getenv(names[i]);
    if (rank == NULL)
        return false;
    *settings = (struct settings){.rank = (int)strtol(rank, NULL, 10)};
    read_streams(settings);
    read_how(settings);
    read_jumps(settings);
    read_turns(settings);
    read_ranks(settings);
    read_seed(settings);
    settings->log = getenv("DISTURB_LOG");
    return true;
}
