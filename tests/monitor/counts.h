/*
 * The parts of counts_test: each calls functions a known number of times, case by case.
 *
 * A case is a snapshot of its own, so nothing else may be in it; and there is one snapshot over all
 * cases, in which everything adds up. What is not to be counted, the partner's side of a message
 * above all, is called as PMPI_.
 */
#ifndef MONITOR_COUNTS_H
#define MONITOR_COUNTS_H

#include "expect.h"

/* Begins a case in which the function of this name is called; `what` tells it from others. */
void case_begin(const char *function, const char *what);

/* What it is to count on this process, by the operation's name or the function's, of which "_c" is
 * left out. */
void case_expects(enum kind kind, const char *comm, const char *operation, struct amounts amounts);

/* Meets the partner, too. */
void case_end(void);

/* A function that was called besides. */
void exercised(const char *function);

/* The cases. Collective over MPI_COMM_WORLD. */
void count_messages(void);
void count_completions(void);
void count_collectives(void);
void count_communicators(void);
void count_windows(void);

/* For all of them. */
extern MPI_Comm pair; /* called "pair": a duplicate of MPI_COMM_WORLD */
enum { BUFFER_BYTES = 1 << 17 };
extern char *data, *result;

#endif
