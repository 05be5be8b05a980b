/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmpirtmon: times, counts and bytes of the MPI calls between two points of a program.
 *
 * It implements section 8.3 of the draft of the MPI/RT standard (the "Real Time Instrumentation
 * Proposal") for any MPI program in C, and for unchanged programs through LD_PRELOAD and the
 * variable MPIRT_MONITOR. monitor/README.md defines the words, the columns and the method.
 *
 *     MPIX_Monitor handle = MPIX_MONITOR_DEFAULTS;
 *     MPIX_Monitor_request request;
 *     handle.profile = handle.pttopt = handle.coll = 1;
 *     MPIX_Start_monitor(&request, &handle, stdout);
 *     ... communicate ...
 *     MPIX_End_monitor(&request, &handle);
 *
 * Link with -lmpirtmon before the MPI library, or preload it. A snapshot covers the time between
 * MPIX_Start_monitor and MPIX_End_monitor. Snapshots may nest and overlap.
 *
 * Choices that the proposal leaves open
 *
 * Start (8.3.2.1): the call that starts an operation, by the time model of the proposal, bounded by
 * the snapshot. Its event and priority models (events that wake tasks, tasks with priorities) need
 * a real-time MPI.
 *
 * End: the return of the call that completes the operation. That is the blocking call, the wait or
 * test of a request (also MPI_Request_get_status), or the synchronisation of a one-sided operation:
 * fence, flush (also local), unlock, complete, the freeing of the window. If MPI's request shows
 * that a non-blocking operation is complete already, the call that started it ends it.
 *
 * Collectives: the messages inside them can't be seen from outside of the MPI library, so their
 * start and end are those of their calls. A communicator's span reaches from its first start, which
 * may be a receive's, to its last end.
 *
 * Timeouts are counted for all operations, although the proposal requires them for point-to-point
 * only. Workload (8.3.2.2): messages are counted where they are sent, those of one-sided operations
 * at their origin. Messages inside collectives and to MPI_PROC_NULL are not counted. Other software
 * services (8.3.3): counts of the whole process, not only for MPI.
 *
 * Not monitored: programs that use only sessions. Of dynamic processes, only the time and the
 * communicators that they make are monitored.
 *
 * Errors: every function returns MPIX_MONITOR_SUCCESS or a code below. A function that fails
 * changes nothing, except that MPIX_End_monitor ends a snapshot even if the report fails
 * (MPIX_MONITOR_ERR_MEMORY, _ERR_OUTPUT or _ERR_COMMUNICATORS). Without MPIRT_MONITOR, the first
 * snapshot makes a communicator from MPI_COMM_SELF for a moment, and each report one from
 * MPI_COMM_WORLD, unless the program's communicators leave MPI no room. If MPI fails for another
 * reason, the error handlers of these two communicators decide. The monitor never sets them.
 *
 * Threads: any thread may call any function at MPI_THREAD_MULTIPLE, and at other levels as MPI
 * allows (MPI_Query_thread). An end with a report is a collective call on MPI_COMM_WORLD, which
 * must not meet a collective call of another thread.
 */
#ifndef MPIRTMON_H
#define MPIRTMON_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MPIX_MONITOR_SUCCESS = 0,
    MPIX_MONITOR_ERR_ARGUMENT, /* a NULL pointer; large_bytes or timeout_us negative or not a
                                  number; site not from 0 to MPIX_MONITOR_CALLERS_MAX; a negative
                                  capacity */
    MPIX_MONITOR_ERR_MPI,      /* before MPI_Init or after MPI_Finalize; not from MPIX_Get_monitor
                                  and MPIX_Get_monitor_warnings */
    MPIX_MONITOR_ERR_REQUEST,  /* this request was never started, or its rows are no longer kept */
    MPIX_MONITOR_ERR_ENDED,    /* it has ended already */
    MPIX_MONITOR_ERR_ACTIVE,   /* it has not ended yet */
    MPIX_MONITOR_ERR_HANDLE,   /* it was started with a different handle */
    MPIX_MONITOR_ERR_LIMIT,    /* MPIX_MONITOR_ACTIVE_MAX snapshots are active */
    MPIX_MONITOR_ERR_MEMORY,   /* not enough memory */
    MPIX_MONITOR_ERR_OUTPUT,   /* the report could not be written in full */
    MPIX_MONITOR_ERR_COMMUNICATORS /* no report: MPI has no room for its communicators */
};

/* Snapshots that can be active at a time in a process. */
#define MPIX_MONITOR_ACTIVE_MAX 16

/* The monitorhandle: the flags of a snapshot, off by default and again after MPIX_End_monitor. */
typedef struct MPIX_Monitor {
    int profile;  /* master switch: no effect without one of the next eight flags, site, peers or
                     depth, which have none without it; a warning reports either case */
    int other;    /* services of the operating system and of the MPI library (MPI_T) */
    int pttopt;   /* point-to-point and one-sided operations, by function */
    int coll;     /* collective operations, by function */
    int sizes;    /* operations by size, and the computation around them */
    int calls;    /* total time inside MPI of each rank, and calls that complete nothing */
    int comm;     /* span and completions of each communicator */
    int msgsize;  /* counts and bytes of small and large messages */
    int traffic;  /* frequencies of small and large messages */
    int per_rank; /* also a row for each rank */
    int clock;    /* with coll: compares the ranks' clocks, for waiting in rooted collectives */
    int64_t large_bytes; /* size of the smallest large message; 0: the default, 64 KiB */
    double timeout_us;   /* a longer operation counts as a timeout; 0: none does */
    int site;  /* operations and calls by the line of the program that calls MPI; 2 or 3: also by
                  the next callers */
    int peers; /* messages and waiting by pair of ranks */
    int depth; /* high-water marks: open receives, sends, requests and puts; MPI's objects */
} MPIX_Monitor;

/* Largest value of `site`. */
#define MPIX_MONITOR_CALLERS_MAX 3

#define MPIX_MONITOR_LARGE_BYTES 65536
#define MPIX_MONITOR_DEFAULTS                                                                      \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, MPIX_MONITOR_LARGE_BYTES, 0.0, 0, 0, 0                    \
    }

/* Identifies a snapshot. Set by MPIX_Start_monitor; may be copied. */
typedef struct MPIX_Monitor_request {
    int64_t serial;
} MPIX_Monitor_request;

/* Starts a snapshot. Local. `handle` must stay until the end. `f` receives the report of rank 0,
   and must stay open until the end: NULL on all ranks of MPI_COMM_WORLD or on none. If the start
   fails on a rank, the others must not end their snapshots with a report. If a handle monitors
   nothing and `f` is NULL, rank 0 reports that on stderr, once per job. */
int MPIX_Start_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle, FILE *f);

/* Ends the snapshot and resets its handle to the defaults. With an `f`, writes the report of all
   ranks to rank 0's `f` and flushes it: collective over MPI_COMM_WORLD. Local without an `f`. */
int MPIX_End_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle);

/* Value of a missing count or rank; missing times are NAN. */
#define MPIX_MONITOR_NA (-1)

/* A row of a report. monitor/README.md defines each field, as a column of the same name. */
typedef struct MPIX_Monitor_row {
    char kind[16]; /* pttopt, coll, calls, sizes, comm, workload, other, site, module, peer, depth,
                      total */
    char comm[64];
    char operation[64]; /* MPI function; point-to-point, collective, ... */
    int ranks;          /* processes of the communicator, both groups of an intercommunicator */
    int64_t calls, completed, timeouts;
    double total_s, mean_us, max_us;
    int max_rank; /* in MPI_COMM_WORLD, as all ranks here */
    int64_t bytes;
    int64_t small, large;
    double small_per_s, large_per_s;
    int64_t small_bytes, large_bytes;
    char members[64];
    int rank; /* MPIX_MONITOR_NA: of all ranks */
    double slowest_s;
    int slowest_rank;
    double in_calls_s, computed_s;
    int64_t size_bytes;
    double waited_s, waited_lo_s, waited_hi_s;
    int64_t last_calls;
    int last_rank;
    int64_t callers;
    double computed_after_s;
    int64_t joinable, neighbours;
    double least_waited_s, in_waits_s, waited_files_s;
    double parallel_eff_pct, load_balance_pct, communication_eff_pct, serialisation_eff_pct,
        transfer_eff_pct;
    char site[256]; /* "program+0x1234": module and address in its file; several callers, innermost
                       first, with " < " between them; "NA" if there is none */
    int peer;
    int64_t high;
} MPIX_Monitor_row;

/* Copies up to `capacity` rows of a snapshot that has ended: on rank 0 those of the report, if
   there was one, else this rank's own. Sets `count` to the number of rows. `rows` may be NULL if
   `capacity` is 0. Local; also after MPI_Finalize. The rows of the last 64 snapshots are kept. */
int MPIX_Get_monitor(const MPIX_Monitor_request *request, MPIX_Monitor_row *rows, int capacity,
                     int *count);

/* Codes of warnings. */
enum {
    MPIX_MONITOR_WARNING_OFF = 1,   /* flags are on, but profile is not: no rows */
    MPIX_MONITOR_WARNING_NOTHING,   /* profile is on, but no other flag: no rows */
    MPIX_MONITOR_WARNING_UNTRACKED, /* operations are counted as calls, not as completed */
    MPIX_MONITOR_WARNING_UNTOLD,    /* one-sided operations may be timeouts */
    MPIX_MONITOR_WARNING_UNKNOWN,   /* windows or persistent requests, not freed before, found no
                                       room */
    MPIX_MONITOR_WARNING_UNPLACED,  /* operations are not counted for their communicators */
    MPIX_MONITOR_WARNING_SERVICES,  /* other: what can't be collected, and why */
    MPIX_MONITOR_WARNING_UNSIZED,   /* operations are in no row of their size */
    MPIX_MONITOR_WARNING_UNKEPT,    /* waiting in some collective calls is not known */
    MPIX_MONITOR_WARNING_CLOCK,     /* clock has no effect here; clocks were compared only once */
    MPIX_MONITOR_WARNING_ROOTED,    /* waiting in some rooted collective calls is not known */
    MPIX_MONITOR_WARNING_SITES,     /* calls have no row of their site */
    MPIX_MONITOR_WARNING_PEERS,     /* some counts of peers are approximate */
    MPIX_MONITOR_WARNING_FORTRAN    /* calls of a Fortran library may be missing */
};

typedef struct MPIX_Monitor_warning {
    int code;
    char text[256]; /* one line, as in the report */
} MPIX_Monitor_warning;

/* Copies the warnings of a snapshot that has ended, at most one of each code, as MPIX_Get_monitor
   copies its rows. */
int MPIX_Get_monitor_warnings(const MPIX_Monitor_request *request, MPIX_Monitor_warning *warnings,
                              int capacity, int *count);

/* Returns a line of text for an error code. Never NULL. Local. */
const char *MPIX_Monitor_error_string(int code);

#ifdef __cplusplus
}
#endif

#endif
