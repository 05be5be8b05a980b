/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is compared within one process: the parts of `in_process`, which measures one of them again
 * and again until it is ended, and prints a line a pair: the name, ours and the bare one, with tabs
 * in between.
 */
#ifndef IN_PROCESS_H
#define IN_PROCESS_H

/* Measures once; returns the time in ns, or a share. */
typedef double in_process_fn(void *context);

/* Measures both alternately: ours, bare, bare, ours and so on, `turns` times each (an even number,
   at most IN_PROCESS_TURNS), and prints the pair of their medians. */
#define IN_PROCESS_TURNS 400
void in_process_pair(const char *name, in_process_fn *ours, in_process_fn *bare, void *context,
                     int turns);

/* Ends the program with the exit status for what is not judged, and this reason. */
_Noreturn void in_process_not_here(const char *reason);

/* A pair of each row of a part. */
void clock_pairs(void);
void tsc_pairs(void);
void work_pairs(void);
void stops_pairs(void);
void l2_pairs(void);
void llc_pairs(void);
void write_pairs(void);
void copy_pairs(void);

#endif
