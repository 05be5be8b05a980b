/*
 * An MPI library, as the monitor sees it, that gives one request of its own to all sends that are
 * complete when they are posted: a request that the monitor can't know before the program sends. It
 * is a layer between the monitor and the MPI library, so it must be linked after the monitor. All
 * functions are local.
 */
#ifndef MONITOR_SHARED_SENDS_H
#define MONITOR_SHARED_SENDS_H

/* From here on MPI_Isend sends, which small messages survive without their receive, and gives the
 * shared request. */
void shared_sends_begin(void);

/* From here on it is the library's again. The requests are complete and have been waited for. */
void shared_sends_end(void);

#endif
