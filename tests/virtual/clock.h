/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This rank's clock: what moves it, and what disturbs it.
 *
 * Three things take time: processor time (clock_spend), waiting until a time (clock_until), and
 * sleeping. Interruptions take the processor away: processor time that one of them interrupts
 * lasts longer by it; a wait that ends inside one ends with it; one that comes in a sleep does
 * nothing. Where the machine is slower by a factor, processor time lasts that much longer, and so
 * do operations that begin then (clock_factor).
 *
 * Parameters (environment; see parameters.c for defaults):
 *
 *   VIRTUAL_CLOCK_NS        what a reading of the clock costs; VIRTUAL_CLOCK_ODD_NS: on ranks of
 *                           odd numbers
 *   VIRTUAL_RESOLUTION_NS   the clock's steps
 *   VIRTUAL_CLOCK_SHIFT_US, VIRTUAL_CLOCK_PPM
 *                           rank r's clock is ahead by r times the shift, and r times the ppm fast
 *   VIRTUAL_SLICE_US        odd and even ranks share processors: a rank that waits in a call,
 *                           instead of asking, continues in its turn: two slices of three are the
 *                           odd ranks'
 *   VIRTUAL_WORK_NS         a unit of work
 *   DISTURB                 "RATE:US[,RATE:US]...": streams of interruptions; each has RATE a
 *                           second, each of US microseconds, with exponential gaps. One that begins
 *                           in another waits for its end.
 *   DISTURB_PERIODIC        1: all gaps are the same
 *   DISTURB_RANKS           "0,3": only these ranks are interrupted; else all
 *   DISTURB_RECORDED        a file with lines "start_us length_us", of a real machine, for example,
 *                           repeated; each rank of each launch begins somewhere else in it
 *   DISTURB_TIMES           a file of times over their median, for example of a real machine:
 *                           operations last longer by one of these factors, drawn at random
 *   DISTURB_JUMPS           "ON_S:PERIOD_S:FACTOR": in ON_S of every PERIOD_S all takes FACTOR
 *                           times as long on all ranks; a launch begins somewhere in the period
 *   DISTURB_DRIFT           "SHARE:PERIOD_S": all takes longer by up to this share, rising and
 *                           falling in a period
 *   VIRTUAL_SIGNAL          "NUMBER:RANK:AT_US": a signal that the rank gets at a time
 *   VIRTUAL_SEED            what all of this depends on, with launch and rank
 */
#ifndef VIRTUAL_CLOCK_H
#define VIRTUAL_CLOCK_H

#include <stdint.h>

/* Reads the environment. In the parent of all ranks. */
void clock_configure(void);

/* Begins the streams of this rank. */
void clock_begin(void);

/* Reads the clock, which costs VIRTUAL_CLOCK_NS; the result is this rank's own time. */
int64_t clock_read_ns(void);

/* The same as ticks of a time stamp counter, 4 a nanosecond; on ranks of odd numbers
   VIRTUAL_ODD_TICKS. */
uint64_t clock_read_ticks(void);

/* The true time when this rank's clock shows shown_ns. Programs that know the truth of clocks look
   for this function by its name. */
int64_t clock_shift_undo(int64_t shown_ns);

/* Takes this much processor time, in ns of an undisturbed machine. */
void clock_spend(double ns);

/* Waits until the time, if that isn't over; what happens besides is waiting's own. */
void clock_until(int64_t at_ns);

void clock_sleep(int64_t ns);

/* Does units of work. The next work after clock_take_from_work lasts longer by this much. */
void clock_work(uint64_t units);
void clock_take_from_work(double ns);

/* By how many times longer lasts an operation, by DISTURB_TIMES; its own chances choose. */
double clock_recorded_factor(uint64_t chances);

/* By how many times longer than usual lasts what begins now: 1 on an undisturbed machine. */
double clock_factor(void);

#endif
