/*
 * Overlap of MPI_Iallreduce, the sum over all ranks on every rank: the largest amount of work that
 * fits under it, and the gain against MPI_Allreduce. The first file to read: the other programs of
 * this folder differ in the operation only.
 *
 * Timed region (engine/kernel.c): on each rank, each of these from a barrier of its own (or an
 * agreed start, --start=window) until its last call returns.
 *
 * - reference: MPI_Iallreduce, MPI_Wait
 * - beside: MPI_Iallreduce, a little more work than fits, MPI_Wait, less the time of the work: the
 *   part that no work can hide
 * - exposed: MPI_Iallreduce, twice as much work as the reference lasts (--plenty), MPI_Wait, less
 *   the time of the work
 * - blocking: MPI_Allreduce
 * - work: each of six amounts of work, from the estimated knee down to 0.15 of it
 * - total: MPI_Iallreduce, one of these amounts, MPI_Wait
 *
 * Samples of reference, work and total are the slowest rank's. Overlap, blocking and exposed are
 * formed on each rank from all rounds of a visit, then the slowest rank's is taken
 * (engine/estimate.h, gain.h).
 *
 * When: a row is a number of elements: with --data-driven all from 1 to 131,072, doubling, else the
 * first of these whose reference takes 1 ms or more (--cutoff-time). A number of calls of MPI_Test
 * and a form are part of the row if several were asked for. The first visit of a row searches how
 * much work fits (engine/phases.c). Each visit then takes rounds of all of the above, alternately
 * (engine/rounds.c).
 *
 * How often: rows are visited six times, alternately; rows that aren't precise then up to twelve
 * times, while there is time (15 s a run). The rounds of a visit, mostly 30 or more, end when
 * reference, total, work and blocking are known to 2 % (--precision), or when the visit's time is
 * up.
 *
 * Written: a line a row, after its last visit (engine/result.c): reference, work, total, overlap
 * (the share of the reference that is not `beside`), blocking, exposed, gain (blocking less
 * exposed), in us and %, with intervals, and a verdict. Work and total are those of the largest
 * amount whose total exceeds the reference by no more than --acceptance-threshold (engine/fit.h);
 * without such an amount work is 0 and total the reference.
 */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(iallreduce, "MPI_Iallreduce", op_allreduce);

int main(int argc, char **argv) { return overlap_main(&overlap_iallreduce_program, argc, argv); }
