/*
 * The data of --check: values that tell where in a block they belong, and in which half of a
 * repetition.
 */
#ifndef COMMCOST_PINGPONG_CHECK_H
#define COMMCOST_PINGPONG_CHECK_H

#include "pingpong/patterns.h"

#include <stdbool.h>
#include <stdint.h>

/* The number of values behind the data that are checked, where the coarray has them. */
#define PINGPONG_GUARD_VALUES 64

/* Half of a repetition. */
struct pingpong_half {
    const struct pingpong_game *game;
    const struct pingpong_pattern *pattern;
    bool there;     /* else back */
    int64_t number; /* of this half in the row, counted from 0 */
};

/* Fills this rank's part of the coarray for a half. Local; not for idle ranks. */
void pingpong_prepare(const struct pingpong_half *half);

/* Whether this rank's part of the coarray is as it must be after that half: the target has the
   source's data, and nothing else has changed. Local; not for idle ranks. */
bool pingpong_is_right(const struct pingpong_half *half);

#endif
