/*
 * The data that collectives move. A value depends on who sent it, to whom, and on its index, so
 * that blocks and elements that are missing, old, or in each other's place show. All are whole
 * numbers that a double holds exactly, also when summed over many ranks, so results are compared
 * for equality.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_VALUES_H
#define COMMCOST_OVERLAP_ENGINE_VALUES_H

#include <stdint.h>

/* The value of element i of the block that rank `from` sends to rank `to` (0 where all ranks get
   the same). */
static inline double overlap_value(int from, int to, int64_t i)
{
    return (double)(from + 1) * (double)(i % 1021 + 1) + 1e6 * (double)to;
}

/* The sum of overlap_value(from, to, i) over the ranks 0 <= from < ranks. */
static inline double overlap_value_sum(int ranks, int to, int64_t i)
{
    const double p = (double)ranks;
    return p * (p + 1.0) / 2.0 * (double)(i % 1021 + 1) + 1e6 * p * (double)to;
}

#endif
