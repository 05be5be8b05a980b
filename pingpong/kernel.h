/*
 * The timed loops of pingpong.
 */
#ifndef COMMCOST_PINGPONG_KERNEL_H
#define COMMCOST_PINGPONG_KERNEL_H

#include "pingpong/patterns.h"

#include <stdbool.h>
#include <stdint.h>

/* Moves the data there and back `repetitions` times and returns the time in ns, 0 on a rank that
   has no part in it. Collective over the coarray's ranks. */
int64_t pingpong_play(const struct pingpong_game *game, int64_t repetitions);

/* Half of a repetition, `there` or back; returns its time in ns. For checks between the halves.
   Collective over the coarray's ranks. */
int64_t pingpong_play_half(const struct pingpong_game *game, bool there);

#endif
