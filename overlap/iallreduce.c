/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap of MPI_Iallreduce: the largest amount of work that fits under it, and the gain against
 * MPI_Allreduce. The first file to read: most programs of this folder differ only in the operation.
 *
 * Timed region (engine/kernel.c): on each rank, each of these from a barrier of its own (or an
 * agreed start, --start=window) until its last call returns. --test-calls puts MPI_Test into the
 * work.
 *
 * - reference: MPI_Iallreduce, MPI_Wait
 * - beside: MPI_Iallreduce, a little more work than fits, MPI_Wait, less the time of that work
 * - exposed: MPI_Iallreduce, work of twice the reference (--plenty), MPI_Wait, less work alone
 * - blocking: MPI_Allreduce
 * - work: each of six amounts of work alone, from the estimated knee (the most work that fits) down
 *   to 0.15 of it
 * - total: MPI_Iallreduce, each of these amounts, MPI_Wait
 *
 * When: a row is a number of elements. With --data-driven these are 1 to 131,072, doubling; by
 * default the smallest of them whose reference takes 1 ms (--cutoff-time), or 128, 8,192 and
 * 131,072 if none does (engine/sizes.h). The first visit of a row searches the amount of work that
 * fits (engine/phases.c). Each visit then takes rounds of all times above, alternately
 * (engine/rounds.c).
 *
 * How often: the rows of a group are visited alternately, six times, up to twelve times if they
 * aren't precise and there is time (15 s per run). The rounds of a visit, 30 or more if time
 * allows, end when reference, total, work and blocking are known to 2 % (--precision), or when the
 * visit's time is up.
 *
 * Written: one line per row, after its group's last visit (engine/result.c). Reference, work and
 * total are the slowest rank's samples. Overlap is the share of the reference that is hidden: one
 * minus `beside` over reference. Gain is blocking minus exposed. Each of these times is a quantile
 * of a visit's rounds on each rank, of which the maximum over ranks is used (engine/estimate.h,
 * gain.h). The column work_us is the largest amount whose total exceeds the reference by at most
 * --acceptance-threshold (engine/fit.h), or 0.
 */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(iallreduce, "MPI_Iallreduce", op_allreduce);

int main(int argc, char **argv) { return overlap_main(&overlap_iallreduce_program, argc, argv); }
