/*
 * What the monitor's tests share. A test starts a snapshot, says what the snapshot should count,
 * and ends it; all rows are compared, so neither a missing row nor one too many goes unnoticed.
 */
#ifndef COMMCOST_TESTS_MONITOR_EXPECT_H
#define COMMCOST_TESTS_MONITOR_EXPECT_H

#include <mpi.h>
#include <mpirtmon.h>
#include <stdbool.h>
#include <stdint.h>

enum { LARGE_BYTES = 1000, TAG = 7, BUFFER_BYTES = 1 << 17 };

enum kind { PTTOPT, COLL };

/* The ranks of this process and of the other one: the tests have two. */
extern int me, partner;

/* What is sent, or where it is received. */
extern char buffer[BUFFER_BYTES];

/* MPI_STATUSES_IGNORE, from test_begin on; gcc believes that MPICH writes to the constant
 * (-Wstringop-overflow). */
extern MPI_Status *no_statuses;

/* Counts of an operation on a communicator. Messages count where they are sent. */
struct amounts {
    int64_t calls, completed, timeouts, bytes;
    int64_t small, large, small_bytes, large_bytes;
};

struct expected_row {
    char kind[16], comm[64], operation[64];
    struct amounts amounts;
    bool found;
};

struct expected_rows {
    struct expected_row *rows;
    int count, capacity;
};

/* A snapshot and what is expected of it. */
struct watch {
    MPIX_Monitor asked, handle;
    MPIX_Monitor_request request;
    struct expected_rows expected;
    unsigned warnings; /* bit 1 << code of each expected warning */
};

/* Starts MPI, at MPI_THREAD_MULTIPLE if `multiple` or if the program's first argument is
   "multiple". */
void test_begin(int *argc, char ***argv, bool multiple);

/* The exit status, the same on both ranks. Call it before MPI_Finalize. */
int test_end(void);

/* Failures of this process so far. */
int test_failures(void);

/* What the next failures are about. */
void test_about(const char *what);

/* Prints and counts a failure. Return whether the check holds. */
bool check(bool is_right, const char *what);
bool check_equal(const char *what, int64_t is, int64_t should_be);

/* Starts a snapshot of everything with LARGE_BYTES, or of what is asked. */
void watch_begin(struct watch *watch);
void watch_begin_with(struct watch *watch, MPIX_Monitor asked);

/* Adds to what is expected. Call it after the start. */
void expect(struct watch *watch, enum kind kind, const char *comm, const char *operation,
            struct amounts amounts);

/* Expects a warning. A warning that isn't expected is a failure. */
void expect_warning(struct watch *watch, int code);

/* Ends the snapshot and compares. Local. */
void watch_end(struct watch *watch);

/* The rows of a snapshot that has ended. The caller frees them. */
MPIX_Monitor_row *rows_of(const MPIX_Monitor_request *request, int *count);

/* The warnings of a snapshot that has ended, bit 1 << code each. */
unsigned warnings_of(const MPIX_Monitor_request *request);

/* Amounts of complete operations: of calls that send no messages, and of messages of `bytes_each`.
 */
struct amounts completed_calls(int64_t calls, int64_t bytes);
struct amounts completed_messages(int64_t calls, int64_t bytes_each);

/* The same amounts, but none complete. */
struct amounts in_flight(struct amounts amounts);

/* The partner's side, which isn't counted: a barrier; a send to this rank's partner, and a receive
   from it. */
void meet(void);
void send_bytes(int bytes, MPI_Comm comm);
void receive_bytes(MPI_Comm comm);

/* Runs tests one after the other; the processes meet after each. */
void run_each(void (*const tests[])(void), size_t count);

/* A duplicate of MPI_COMM_WORLD with this name. */
MPI_Comm make_named(const char *name);

void sleep_ms(double ms);

#endif
