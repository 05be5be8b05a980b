/*
 * A library to be preloaded that stops ranks, as daemons, interrupts and the host of a virtual
 * machine do, and writes down for how long: a known condition for tests of statistics.
 *
 *   DISTURB         "RATE:MICROSECONDS[,RATE:MICROSECONDS...]": up to 8 streams of stops. Each
 *                   has RATE stops a second, each so long, with exponentially distributed gaps
 *                   between their beginnings. Stops don't overlap: one waits for the other's end.
 *   DISTURB_PERIODIC  1: gaps that are all the same.
 *   DISTURB_JUMPS   "ON_S:PERIOD_S:FACTOR": in ON_S of every PERIOD_S seconds all takes FACTOR
 *                   times as long, by stops at readings of the clock of FACTOR - 1 times what was
 *                   computed since the last stop, once that is 20 ns: what lies between any two
 *                   readings is slowed down alike, to within about a reading. When this begins is
 *                   random, but the same on all ranks of a launch.
 *   DISTURB_TURNS   "ON_S:PERIOD_S": streams stop a rank only in the first ON_S of every PERIOD_S
 *                   seconds of CLOCK_MONOTONIC; what is due at other times is left out.
 *   DISTURB_BY      "timer" or "readings": how streams stop a rank; see below. Unset, stops of
 *                   40 us or more are a timer's.
 *   DISTURB_RANKS   "0,3": only these ranks, as the launcher counts them. Unset: all.
 *   DISTURB_SEED    Integer that all randomness depends on. Unset: the number of the parent
 *                   process, which is the same for all ranks of a launch on one machine.
 *   DISTURB_LOG     PREFIX: at its end each rank writes to PREFIX.RANK what became of it; see
 *                   log.h.
 *
 * Anything else in these variables ends the job with a message. A process is a rank if one of
 * PMI_RANK, OMPI_COMM_WORLD_RANK and PMIX_RANK is set and it calls MPI_Init; its stops last until
 * MPI_Finalize. What the launcher starts on the way, and a rank's children, aren't stopped; nor
 * are threads but the one that called MPI_Init.
 *
 * A stop by a timer comes when it is due, whatever the rank does then, as a signal whose handler
 * spins to the stop's end. What entering and leaving a handler takes is part of the stop's length.
 * It is measured at the beginning, and the min of what a stop can take: 15 to 20 us on a virtual
 * machine, where the host makes the interrupt.
 *
 * A stop by readings comes with the first reading of CLOCK_MONOTONIC after it was due, which
 * returns when the stop is over. So it may be as short as wanted, and what a program measures is
 * what it would be with a stop at the very moment: a stop that was due between two readings is
 * between them. Two things are different: a rank that waits in the real MPI library is stopped
 * afterwards instead of meanwhile, and those that wait for it aren't kept waiting. Programs that
 * read the time stamp counter themselves are never stopped.
 *
 * Stops that are due while the rank sleeps (nanosleep, clock_nanosleep) are left out, and don't
 * wake it up. Other system calls that a signal ends although it has SA_RESTART, as poll and usleep,
 * end at a timer's stops.
 *
 * Jumps are by readings, and slow down the time between them, up to 10 ms: longer than that a
 * program doesn't compute, but wait.
 *
 * Among libraries that are preloaded this one should be the first, since others may call the MPI
 * library's MPI_Init by its other name.
 *
 * What follows is for a library that decides by the clock how long its
 * operations take. They take FACTOR times as long in jumps; and no jump's stop comes while it
 * spins, so that this isn't counted twice.
 */
#ifndef DISTURBANCE_H
#define DISTURBANCE_H

#include <stdint.h>

#define DISTURBANCE_VISIBLE __attribute__((visibility("default")))

/* By how many times longer than usual everything takes on this rank at this time of
   CLOCK_MONOTONIC: FACTOR or 1. */
DISTURBANCE_VISIBLE double disturbance_factor(int64_t now_ns);

/* Until end_ns this thread does what takes FACTOR times as long already. */
DISTURBANCE_VISIBLE void disturbance_modelled_until(int64_t end_ns);

#endif
