/*
 * An interposer that gives one request of its own to all sends that are complete when they are
 * posted, or one to each of several kinds of them, which the monitor can't know before the program
 * sends (Open MPI 6 has one for sends to other processes, another for those to MPI_PROC_NULL). It
 * lies between the monitor and the MPI library, so it must be linked after the monitor. All
 * functions are local.
 */
#ifndef COMMCOST_TESTS_MONITOR_SHARED_SENDS_H
#define COMMCOST_TESTS_MONITOR_SHARED_SENDS_H

/* From here on MPI_Isend is a blocking send, which small messages survive without a posted receive,
   and returns the shared request. */
void shared_sends_begin(void);

/* From here on MPI_Isend returns the shared request of this kind, at first that of kind 0. */
enum { SHARED_KINDS = 12 };
void shared_sends_use(int kind);

/* From here on MPI_Isend is the MPI library's again. The program must have waited for all requests.
 */
void shared_sends_end(void);

#endif
