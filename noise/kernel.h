/*
 * The timed regions of noise: work alone, and work before a collective operation.
 */
#pragma once

#include <stdint.h>

/* Does `count` quanta of `units` units of work (common/clock/work.h), and reads the clock before
   the first and after each of them: readings_ns[0] to readings_ns[count]. Local. */
void noise_quanta(uint64_t units, int count, int64_t *readings_ns);

/* Does `count` steps: `units` units of work (0: none), then the operation; reads the clock as
   noise_quanta does. An MPI error ends the job. Collective over MPI_COMM_WORLD, with the same count
   on all ranks. */
typedef void noise_steps_fn(uint64_t units, int count, int64_t *readings_ns);
noise_steps_fn noise_barrier_steps;
noise_steps_fn noise_allreduce_steps; /* the sum of one double */
