/* The variables of disturbance.h. */
#ifndef DISTURBANCE_SETTINGS_H
#define DISTURBANCE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum { STREAMS_MAX = 8 };

struct stream_settings {
    double rate;      /* stops a second */
    double length_us; /* of each */
    bool by_timer;    /* else by readings */
};

struct settings {
    int rank;       /* as the launcher counts */
    bool is_chosen; /* disturbed at all */
    bool is_periodic;
    int streams;
    struct stream_settings stream[STREAMS_MAX];
    double on_s, period_s, factor; /* of jumps; without them factor is 1 */
    double turn_s, turns_period_s; /* in which streams stop the rank; 0: always */
    uint64_t seed;
    const char *log; /* NULL: none */
};

/* Reads the variables; ends the process with a message if one of them is wrong. False if this
   process is no rank. */
bool settings_read(struct settings *settings);

#endif
