/*
 * The parts of counts_test. Each calls MPI functions a known number of times, case by case.
 *
 * A case is a snapshot of its own, which must count nothing else. Another snapshot spans all cases,
 * and counts their sum. What must not be counted, such as the partner's side of a message, is
 * called as PMPI_.
 */
#ifndef COMMCOST_TESTS_MONITOR_COUNTS_H
#define COMMCOST_TESTS_MONITOR_COUNTS_H

#include "expect.h"

#define ELEMENTS(array) (sizeof(array) / sizeof *(array))

/* Begins a case that calls this function; `what` describes the case. */
void case_begin(const char *function, const char *what);

/* What the case counts on this process, by the operation's name. That may be the function's name: a
   "_c" at its end is left out. */
void case_expects(enum kind kind, const char *comm, const char *operation, struct amounts amounts);

/* Ends the case and meets the partner. */
void case_end(void);

/* Another function that the case calls. */
void exercised(const char *function);

/* The cases. Collective over MPI_COMM_WORLD. */
void count_messages(void);
void count_completions(void);
void count_collectives(void);
void count_communicators(void);
void count_windows(void);

extern MPI_Comm pair; /* a duplicate of MPI_COMM_WORLD, named "pair" */
extern char data[BUFFER_BYTES], result[BUFFER_BYTES];

#endif
