/*
 * Does a synchronisation synchronise?
 */
#ifndef COMMCOST_SYNCBENCH_CHECK_H
#define COMMCOST_SYNCBENCH_CHECK_H

#include "syncbench/kinds.h"

#include <stdint.h>

/*
 * Synchronises 20 times, each time with other ranks that come 0.3 ms late, and
 * returns how often it went wrong on any rank (on rank 0): a rank was let out
 * before one that it waits for had come in, or, where ranks take turns, two were
 * in at once and a count that they keep together came out wrong. Nothing can go
 * wrong where nobody is waited for. Where all wait for all, a rank looks at log2(P) of
 * the others, and each synchronisation takes it as many puts. Collective over
 * MPI_COMM_WORLD.
 */
int64_t syncbench_check(const struct syncbench_kind *kind, struct syncbench_team *team);

#endif
