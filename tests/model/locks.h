/* Until when exclusive locks are held in modelled time, for all processes to see. */
#ifndef MODEL_LOCKS_H
#define MODEL_LOCKS_H

#include <stdatomic.h>
#include <stdint.h>

/* Both collective over MPI_COMM_WORLD. */
void locks_start(void);
void locks_finish(void);

/* The place for locks on the process of this rank in MPI_COMM_WORLD, in ns of the clock, of any
   window: the locks of several windows on one process count as one. NULL when processes have no
   memory, so maybe no clock, in common. */
_Atomic int64_t *lock_held_until(int world_rank);

#endif
