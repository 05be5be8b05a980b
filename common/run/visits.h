/*
 * Which row is measured when.
 *
 * What a machine does (its clock rate, its host, its other users) stays the same for seconds, so
 * samples that follow one another tell little about the next launch. Therefore each row is visited
 * several times (--visits). All rows are visited in turn, in another order each time, over at least
 * three seconds; a row's samples are those of all its visits (common/stats/samples.h). Rows that
 * aren't precise after the planned visits get more while there is time. When a run's budget ends,
 * rows have fewer visits, but at least one.
 *
 * Long runs are divided into groups of rows whose visits take about a minute, so that rows are
 * written at least that often.
 */
#ifndef COMMCOST_COMMON_RUN_VISITS_H
#define COMMCOST_COMMON_RUN_VISITS_H

#include "common/run/benchmark.h"

/* Lists the benchmark's rows, visits them and writes them. Ends after the visit in hand, and writes
   the rows with the visits that they have, if a rank notes a signal (run->signal) or output is
   lost. Sets run->failed if a row's status is FAIL. Collective over MPI_COMM_WORLD. */
void bc_visits_run(struct bc_run *run);

#endif
