/*
 * How much work fits under MPI_Iallreduce, the sum over all ranks on every rank, and what that
 * gains against MPI_Allreduce. The other collectives' files differ in the operation only.
 *
 * What is timed: on each rank, from just after a barrier; a sample is the slowest rank's time.
 *
 *     reference   MPI_Iallreduce, MPI_Wait
 *     beyond      MPI_Iallreduce, a little more work than fits, MPI_Wait, without the time of the
 *                 work: what no work can hide
 *     exposed     the same with twice as much work as the reference lasts
 *     blocking    MPI_Allreduce
 *     work        as much work as fits
 *     total       MPI_Iallreduce, this work, MPI_Wait
 *
 * When: a row is a number of elements; all from 1 to 131,072, doubling, with --data-driven, else
 * the one whose reference takes 1 ms. The first visit of a row searches how much work fits. Each
 * visit then takes rounds, all of the above in turn.
 *
 * How often: rows are visited six times, in turn, and more often while there is time. The rounds of
 * a visit, mostly 30 or more, end when reference, total, work and blocking are known to 2 %, or
 * when the visit's time is up.
 *
 * What is written: a line a row, after its last visit: reference, work, total, overlap (the share
 * of the reference that is not in `beyond`), blocking, exposed and gain (their difference), as
 * medians with intervals, and a verdict.
 *
 * See overlap_main in engine/program.c, the visit in engine/visit.c, and the timed regions in
 * engine/kernel.c.
 */
#include "overlap/engine/program.h"

/* The calls; what send and receive buffers hold, which --check verifies. Behind the largest `int`
   the same arguments make calls of MPI_Iallreduce_c and so on (.layout). */
OVERLAP_COLLECTIVE_C(iallreduce, MPI_Iallreduce, MPI_Allreduce,
                     (operation->send, operation->receive, count, MPI_DOUBLE, MPI_SUM,
                      operation->comm),
                     .layout = OVERLAP_REDUCED, .send = {overlap_one_block, overlap_sent_to_all},
                     .receive = {overlap_one_block, overlap_sum});

int main(int argc, char **argv) { return overlap_main(&overlap_iallreduce_program, argc, argv); }
