/* The timed loops of pingpong (kernel.c), and one row: the time of a repetition, there and back. */
#pragma once

#include "common/batch/transfer.h"
#include "pingpong/patterns.h"

#include <stdbool.h>
#include <stdint.h>

/* Moves the data there and back `repetitions` times; returns the time in ns, 0 on a rank that has
   no part in it. Collective over the coarray's ranks. */
int64_t pingpong_play(struct pingpong_game *game, int64_t repetitions);

/* The same for half of a repetition, `there` or back, for checks between the halves. */
int64_t pingpong_play_half(struct pingpong_game *game, bool there);

/* The number of values behind the data that --check looks at, where the coarray has them. */
#define PINGPONG_GUARD_VALUES 64

/* One visit within `seconds` (significant on rank 0). A sample is a batch of repetitions, long
   against the clock; with --check each half of a repetition is timed by itself, with its data made
   before and verified after. Collective over MPI_COMM_WORLD. */
void pingpong_visit(const struct bc_run *run, struct pingpong_game *game, double seconds,
                    struct bc_transfer_row *row);
