/*
 * libmpirtmon: what MPI did between two points of a program.
 *
 * The instrumentation of section 8.3 of the MPI/RT standard's draft (the "Real Time Instrumentation
 * Proposal"), for any MPI program in C, and for unchanged programs through LD_PRELOAD and the
 * variable MPIRT_MONITOR. A snapshot is what happens between MPIX_Start_monitor and
 * MPIX_End_monitor; snapshots may nest and overlap.
 *
 *     MPIX_Monitor handle = MPIX_MONITOR_DEFAULTS;
 *     MPIX_Monitor_request request;
 *     handle.profile = handle.pttopt = handle.coll = 1;
 *     MPIX_Start_monitor(&request, &handle, stdout);
 *     ... communicate ...
 *     MPIX_End_monitor(&request, &handle);
 *
 * Link with -lmpirtmon before the MPI library, or preload it.
 *
 * What is counted
 *
 * Point-to-point (pttopt): blocking and non-blocking messages together, the persistent ones at each
 * start, and one-sided communication on the window's communicator. Probes, waits, tests, locks,
 * flushes, the target's side of one-sided communication and the partitions of a message are not
 * communications of their own: their time is in the operations that they complete. Collective
 * (coll): the blocking, non-blocking, persistent and neighborhood collectives, the creation and
 * freeing of communicators and windows, and fences. Files (calls): the functions of MPI-IO, each by
 * itself, with the bytes that the program asks for. Only the time is monitored of dynamic
 * processes, except the communicators that they make. Not monitored: programs that use sessions
 * only.
 *
 * The time of an operation (8.3.2.1: execution time = end time - start time) is:
 *
 *   start  the call that starts it. Of the proposal's three models this is the time model, whose
 *          rules take precedence; without a timehandle its bounds are those of the snapshot. MPI
 *          events that wake up and tasks with priorities (its event and priority models) need a
 *          real-time MPI.
 *   end    the return of the call that completes the communication: the blocking call itself; the
 *          wait or test of a request (MPI_Request_get_status, too, once it says that it is
 *          complete); the synchronisation of a one-sided operation: fence, flush (local ones, too),
 *          unlock, complete or the freeing of the window. Where MPI says by the request that a
 *          non-blocking operation is complete already (one request for all such, known from the
 *          start, or when MPI hands out again a request that nothing has waited for), the call that
 *          started it. Else one that nothing has waited for has no end, whatever the network did.
 *
 * The proposal takes a collective to be a function of point-to-point messages, and its start and
 * end to be those of the first and the last of these. They can't be seen from outside of the MPI
 * library: start and end are those of the collective's calls, the number of messages inside it is
 * not known (other may have MPI_T variables that count them), and only collectives are counted. The
 * time of a communicator group reaches from its first start to its last end, for its point-to-point
 * operations, for its collective ones, and for all of them together; the first start may be a
 * receive's.
 *
 * What measuring itself takes, a reading of the clock and the monitor's work between an operation's
 * own calls, is subtracted. While several operations are in flight the monitor's work on the
 * others, some 40 ns each, is in the time of each of them, as the program's own work between its
 * calls is.
 *
 * Time inside MPI (8.3.2.1: total MPI execution time is time spent executing services for MPI) is
 * what the calls of a process take, from entry to return, of each thread its outermost calls only.
 * It counts for the operation that the call is or starts; of a call that completes operations in
 * equal parts for these; of all other calls in rows of kind calls: by function for tests that find
 * nothing, waits for what is complete already, probes, synchronisations that complete nothing, and
 * files; where the snapshot is of the whole run for MPI_Init, and for MPI_Finalize until all ranks
 * are there; in one row, "other MPI", for all other functions. MPI_Wtime, MPI_Wtick, MPI_Aint_add
 * and MPI_Aint_diff don't count. What the monitor itself takes, some 25 to 70 ns a call, is time
 * inside MPI, too, not the program's computation, and has one row of kind calls, "libmpirtmon". So
 * the rows of kinds pttopt, coll and calls together are the total.
 *
 * Computation is the time between two calls, if that is longer than the monitor's own work for a
 * call may be: 100 ns, or what was measured at the first snapshot if that is more
 * (computing_from_ns in the head of a report). Shorter gaps are the monitor's time, inside MPI: so
 * a rank that polls computes nothing, whatever the error of that measurement.
 *
 * Waiting for late processes: in collectives that synchronise (compare.h), as each process needs
 * data of all others, a rank's time less the shortest time of any rank in the same call, which no
 * shared clock is needed for. Calls with empty blocks tell none where a process needs nothing of
 * another one. In reports only, for which the ranks' times are brought together. In rooted ones,
 * MPI_Bcast, MPI_Scatter(v), MPI_Gather(v) and MPI_Reduce, calls may return before others have
 * come: only the times of entry tell what ranks waited for the root, or the root for the last of
 * the others, and only by a clock that they share. With the flag `clock` the ranks' clocks are
 * compared where a report is made and, with the word `clock` in MPIRT_MONITOR, in MPI_Init. The
 * interval has what the clock may be off. What ranks waited for one that came from files is told
 * apart: it has communicated nothing since, and computed no longer than the calls about files took.
 *
 * Counts: calls and completions of each function; of a communicator the number of its processes,
 * and completions and timeouts of its point-to-point and of its collective operations. Timeouts,
 * which the proposal confines to point-to-point and lets extend to the others, are counted for all:
 * an operation that took longer than timeout_us when it ended.
 *
 * Operations that are in flight when a snapshot starts or ends: one that started before the
 * snapshot is no part of it, not even its completion. One that started in it counts as a call and
 * in the bytes sent; if it is not complete when the snapshot ends, it does not count as completed,
 * has no time, and what it receives is not in the bytes. So `calls` less `completed` are those in
 * flight at the end, cancelled, failed, freed with MPI_Request_free before anyone knew that they
 * were complete, or not followed: for want of room (65,536 requests fit), or since a call around
 * the monitor (PMPI_Wait) completed them. Of these a warning says how many.
 *
 * Bytes are those a process sends and those it receives, each at its end, in messages; of a
 * one-sided operation those moved, at its origin, where both ways only what is fetched; of a
 * collective what this process contributes (in bcast and scatter: the root only; in alltoall and
 * neighbor_alltoall the blocks for all peers that exist; in allgather and reductions its own once).
 *
 * Workload (8.3.2.2): the frequency of large and of small messages over the snapshot, per
 * communicator. Messages count where they are sent, those of one-sided operations (also of gets) at
 * their origin; none inside collectives, none to MPI_PROC_NULL.
 *
 * Other software services (8.3.3): times in user and system mode, context switches and page faults
 * of the whole process, not only for MPI, and the performance variables (MPI_T) of the MPI library
 * that count without being bound to an object. What can't be collected is warned about.
 *
 * Warnings say what the rows can't: that a handle asks for nothing, what could not be followed or
 * collected. They are in the report, and MPIX_Get_monitor_warnings copies them, so that programs
 * without a report have them, too.
 *
 * The form of the report, which the proposal leaves to the implementor, is that of this collection:
 * tab-separated rows, see monitor/README.md. Its numbers are of an implementation on an
 * architecture and need not compare with those of others.
 *
 * Errors: every function returns MPIX_MONITOR_SUCCESS or one of the codes below, and changes
 * nothing when it fails, but that a snapshot that could not be reported (MPIX_MONITOR_ERR_MEMORY,
 * _ERR_OUTPUT or _ERR_COMMUNICATORS from MPIX_End_monitor) has ended. The monitor never sets the
 * error handler of MPI_COMM_WORLD or MPI_COMM_SELF. Without MPIRT_MONITOR its first snapshot makes
 * a communicator from MPI_COMM_SELF for a moment, and each report one from MPI_COMM_WORLD, unless
 * the program's communicators leave MPI no room. With MPIRT_MONITOR these are made in MPI_Init. If
 * MPI fails for another reason, their error handlers decide. Threads: any thread may call anything
 * at MPI_THREAD_MULTIPLE, and at any level what MPI allows there (MPI_Query_thread); an end with a
 * report is a collective call on MPI_COMM_WORLD, which must not meet another one of another thread.
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
                                  number; a negative capacity */
    MPIX_MONITOR_ERR_MPI,      /* before MPI_Init or after MPI_Finalize; not from MPIX_Get_monitor
                                  and MPIX_Get_monitor_warnings */
    MPIX_MONITOR_ERR_REQUEST,  /* this request was never started, or its rows are no longer kept */
    MPIX_MONITOR_ERR_ENDED,    /* it has ended already */
    MPIX_MONITOR_ERR_ACTIVE,   /* it has not ended yet */
    MPIX_MONITOR_ERR_HANDLE,   /* it was started with another handle */
    MPIX_MONITOR_ERR_LIMIT,    /* MPIX_MONITOR_ACTIVE_MAX snapshots are active */
    MPIX_MONITOR_ERR_MEMORY,   /* not enough memory */
    MPIX_MONITOR_ERR_OUTPUT,   /* the report could not be written in full */
    MPIX_MONITOR_ERR_COMMUNICATORS /* no report: MPI has no room for its communicators */
};

/* Snapshots that can be active at a time in a process. */
#define MPIX_MONITOR_ACTIVE_MAX 16

/* The monitorhandle: what a snapshot is to find out. All flags are off by default, and again after
   MPIX_End_monitor. */
typedef struct MPIX_Monitor {
    int profile;         /* monitor at all: without it the rest means nothing, and it means
                            nothing without one of the eight flags below: both warn */
    int other;           /* other software services: what lies under MPI */
    int pttopt;          /* point-to-point: times, counts, bytes by function */
    int coll;            /* collective operations: the same */
    int sizes;           /* operations by their size, and what could hide under them */
    int calls;           /* all of the time inside MPI: of each rank, and of other calls */
    int comm;            /* communicators: span and completions of each */
    int msgsize;         /* counts and bytes of small and large messages */
    int traffic;         /* their frequencies over the snapshot */
    int per_rank;        /* also a row for each rank, after those of all */
    int clock;           /* with coll: compares the ranks' clocks, for waiting in rooted ones */
    int64_t large_bytes; /* from how many bytes on a message is large; 0: the default, 64 KiB */
    double timeout_us;   /* an operation that takes longer counts as a timeout; 0: none does */
} MPIX_Monitor;

#define MPIX_MONITOR_LARGE_BYTES 65536
#define MPIX_MONITOR_DEFAULTS                                                                      \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, MPIX_MONITOR_LARGE_BYTES, 0.0                             \
    }

/* Stands for a snapshot. Set by MPIX_Start_monitor; may be copied. */
typedef struct MPIX_Monitor_request {
    int64_t serial;
} MPIX_Monitor_request;

/*
 * Starts a snapshot. Local. `handle` must stay until the end. `f` is where the report goes: NULL on
 * all ranks or on none of MPI_COMM_WORLD; only rank 0's is written, and it must be open until the
 * end. A rank where this fails must not leave the others alone in the collective end. Without an f,
 * a handle with which nothing is monitored is said to be so on rank 0's stderr, once a job.
 */
int MPIX_Start_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle, FILE *f);

/* Ends the snapshot and puts the handle, the one that it was started with, back to its defaults.
   With an f collective over MPI_COMM_WORLD: writes the report of all ranks to rank 0's f and
   flushes it. Without one local. */
int MPIX_End_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle);

/* Stands for numbers that do not exist in a row. */
#define MPIX_MONITOR_NA (-1) /* counts and ranks; times are NAN */

/* A row of a report. Which fields exist depends on its kind: pttopt and coll have counts and times,
   calls counts and in_calls_s, of files all of these, comm counts and its span as total_s, workload
   the messages, other a time or a count in calls, total in_calls_s. */
typedef struct MPIX_Monitor_row {
    char kind[16];      /* pttopt, coll, calls, sizes, comm, workload, other, total */
    char comm[64];      /* the communicator's name: see monitor/README.md */
    char operation[64]; /* MPI function; point-to-point, collective, ... */
    int ranks;          /* processes of the communicator, both groups of an intercommunicator */
    int64_t calls, completed, timeouts;
    double total_s, mean_us, max_us;
    int max_rank; /* in MPI_COMM_WORLD, the rank of max_us */
    int64_t bytes;
    int64_t small, large;
    double small_per_s, large_per_s;
    int64_t small_bytes, large_bytes;
    char members[64]; /* the communicator's ranks in MPI_COMM_WORLD */
    int rank;         /* whose row this is; MPIX_MONITOR_NA: of all ranks */
    double slowest_s; /* the greatest total_s of a rank */
    int slowest_rank; /* which rank that is */
    /* Inside MPI: in the calls of these operations, and in those that completed them; of kind calls
       in calls that completed nothing; of kind total in all. */
    double in_calls_s;
    /* Of kind sizes: the computation of the thread between the call that starts an operation and
       the call that completes it, summed up; and the size from which on to below twice it. */
    double computed_s;
    int64_t size_bytes;
    /* Of collectives that synchronise, and with `clock` of rooted ones, in reports: waiting for
       ranks that came later, with its interval; and the rank that others waited for, as it came
       last, most often, and in how many calls, reckoned from those that were compared. */
    double waited_s, waited_lo_s, waited_hi_s;
    int64_t last_calls;
    int last_rank;
    /* Processes that made such calls. Of kind sizes also: the computation of the thread after the
       calls that completed them, up to its next call of MPI, in equal parts; and operations that
       could have been part of an earlier one: messages to a rank that had one already since the
       process last received or waited for anything, collectives that follow one of the same
       function on the same communicator with less than 1 us of computation between; of kind calls
       flushes that had nothing to complete. Of kind pttopt, with sizes: to how many different ranks
       a process sent, at most. */
    int64_t callers;
    double computed_after_s;
    int64_t joinable, neighbours;
    double least_waited_s; /* of waited_s the part of the rank that waited least */
    double in_waits_s;     /* of in_calls_s: in the calls that completed these operations */
    double waited_files_s; /* of waited_s: for ranks that came from calls about files, which took
                              longer than what they have computed since; NAN without `calls` */
} MPIX_Monitor_row;

/*
 * Copies the rows of a snapshot that has ended: on rank 0 those of the report if there was one,
 * else this rank's own. `count` is set to how many there are, of which the first `capacity` are
 * copied; `rows` may be NULL if that is 0. Local; also after MPI_Finalize. Rows are kept until they
 * must make room for those of 64 later snapshots, of any thread.
 */
int MPIX_Get_monitor(const MPIX_Monitor_request *request, MPIX_Monitor_row *rows, int capacity,
                     int *count);

/* Codes of warnings. */
enum {
    MPIX_MONITOR_WARNING_OFF = 1,   /* flags are on, but profile is not: no rows */
    MPIX_MONITOR_WARNING_NOTHING,   /* profile is on, but no other flag: no rows */
    MPIX_MONITOR_WARNING_UNTRACKED, /* operations count as calls, not as completed */
    MPIX_MONITOR_WARNING_UNTOLD,    /* one-sided operations may be timeouts */
    MPIX_MONITOR_WARNING_UNKNOWN,   /* windows or persistent requests, not freed before, found no
                                       room */
    MPIX_MONITOR_WARNING_UNPLACED,  /* operations count for no communicator of theirs */
    MPIX_MONITOR_WARNING_SERVICES,  /* other: what can't be collected, and why */
    MPIX_MONITOR_WARNING_UNSIZED,   /* operations are in no row of their size */
    MPIX_MONITOR_WARNING_UNKEPT,    /* waiting in some collective calls is not known */
    MPIX_MONITOR_WARNING_CLOCK,     /* clock means nothing here; clocks were compared once only */
    MPIX_MONITOR_WARNING_ROOTED     /* waiting in some rooted collective calls is not known */
};

typedef struct MPIX_Monitor_warning {
    int code;
    char text[256]; /* one line, as in the report */
} MPIX_Monitor_warning;

/* Copies the warnings of a snapshot that has ended, at most one of each code: on rank 0 those of
   the report if there was one, which are about all ranks, else this rank's own. Like
   MPIX_Get_monitor in all else. */
int MPIX_Get_monitor_warnings(const MPIX_Monitor_request *request, MPIX_Monitor_warning *warnings,
                              int capacity, int *count);

/* One line of text for an error code. Never NULL. Local. */
const char *MPIX_Monitor_error_string(int code);

#ifdef __cplusplus
}
#endif

#endif
