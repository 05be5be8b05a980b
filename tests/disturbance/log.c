#include "log.h"

#include "stops.h"

#include <inttypes.h>
#include <stdio.h>

static void print_row(FILE *file, const char *what, const char *by, struct tally tally)
{
    (void)fprintf(file, "%s\t%s\t%" PRId64 "\t%.9f\t%.9f\t%.9f\t", what, by, tally.stops,
                  (double)tally.stopped_ns * 1e-9, (double)stops_life_ns() * 1e-9,
                  (double)stops_slept_ns() * 1e-9);
}

static void print_rows(FILE *file, const struct settings *settings)
{
    const double cost_us = (double)stops_timer_cost_ns() * 1e-3;
    struct tally all = {0, 0};
    for (int i = 0; i < settings->streams; i++) {
        const struct stream_settings *const stream = &settings->stream[i];
        const struct tally tally = stops_of_stream(i);
        char what[64];
        (void)snprintf(what, sizeof what, "%g:%g", stream->rate, stream->length_us);
        print_row(file, what, stream->by_timer ? "timer" : "readings", tally);
        (void)fprintf(file, "%.3f\tNA\t%.3f\n", stream->by_timer ? cost_us : 0.0,
                      (double)stops_usual_ns(i) * 1e-3);
        all.stops += tally.stops;
        all.stopped_ns += tally.stopped_ns;
    }
    if (settings->factor > 1.0) {
        const struct tally tally = stops_of_jumps();
        print_row(file, "jumps", "readings", tally);
        (void)fprintf(file, "0.000\t%.9f\tNA\n", (double)stops_jumps_first_ns() * 1e-9);
        all.stops += tally.stops;
        all.stopped_ns += tally.stopped_ns;
    }
    print_row(file, "all", "NA", all);
    (void)fprintf(file, "NA\tNA\tNA\n");
}

void log_write(const struct settings *settings)
{
    if (settings->log == NULL)
        return;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s.%d", settings->log, settings->rank);
    FILE *const file = fopen(path, "w");
    if (file != NULL) {
        (void)fprintf(file,
                      "what\tby\tstops\tstopped_s\tlife_s\tslept_s\tcost_us\tfirst_s\tusual_us\n");
        print_rows(file, settings);
    }
    if (file == NULL || fclose(file) != 0)
        perror(path);
}
