/*
 * Whether a synchronisation synchronises.
 */
#ifndef COMMCOST_SYNCBENCH_CHECK_H
#define COMMCOST_SYNCBENCH_CHECK_H

#include "syncbench/kinds.h"

#include <stdint.h>

/*
 * Synchronises 20 times, each time with other ranks that come 0.3 ms late, and returns the number
 * of errors of all ranks (on rank 0): a rank was let out before a rank that it waits for had come
 * in, or, where ranks take turns, two were in at once and a count that they keep together is wrong.
 * There are no errors where no rank waits for another. Where all wait for all, a rank looks at
 * log2(P) of the others, and puts log2(P) values in each synchronisation. Collective over
 * MPI_COMM_WORLD.
 */
int64_t syncbench_check(const struct syncbench_kind *kind, struct syncbench_team *team);

#endif
