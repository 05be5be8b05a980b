/*
 * What the monitor's tests share: a snapshot, what it should have counted, and a comparison of the
 * two that leaves nothing out, neither a row that should be there nor one that should not.
 */
#ifndef MONITOR_EXPECT_H
#define MONITOR_EXPECT_H

#include <mpi.h>
#include <mpirtmon.h>
#include <stdbool.h>
#include <stdint.h>

enum { LARGE_BYTES = 1000, TAG = 7 };

enum kind { PTTOPT, COLL };

/* This process and its partner: the tests have two. */
extern int me, partner;

/* MPI_STATUSES_IGNORE, of which gcc believes in MPICH that it is written to (-Wstringop-overflow).
 */
extern MPI_Status *no_statuses;

/* Counts of an operation on a communicator; those of messages are of what is sent. */
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
    unsigned warnings; /* bit 1 << code of those that are expected */
};

/* Failures of this process so far. */
int test_failures(void);

/* After MPI_Init. */
void test_begin(void);

/* The exit status, the same on both ranks. Before MPI_Finalize. */
int test_end(void);

/* What the next failures are about. */
void test_about(const char *what);

/* Failures are printed and remembered. */
bool check(bool is_right, const char *what);
bool check_equal(const char *what, int64_t is, int64_t should_be);

/* Starts a snapshot of everything with LARGE_BYTES, or of what is asked. */
void watch_begin(struct watch *watch);
void watch_begin_with(struct watch *watch, MPIX_Monitor asked);

/* Adds to what is expected. Before or after the start. */
void expect(struct watch *watch, enum kind kind, const char *comm, const char *operation,
            struct amounts amounts);

/* This warning, too; of others there is none. */
void expect_warning(struct watch *watch, int code);

/* Ends it and compares. Local. */
void watch_end(struct watch *watch);

/* The rows of a snapshot that has ended, to be freed. */
MPIX_Monitor_row *rows_of(const MPIX_Monitor_request *request, int *count);

/* Its warnings, bit 1 << code each. */
unsigned warnings_of(const MPIX_Monitor_request *request);

/* Amounts of operations that are all complete: so many of no message, of sent messages of the same
   size, and those that also receive. */
struct amounts completed_calls(int64_t calls, int64_t bytes);
struct amounts completed_messages(int64_t calls, int64_t bytes_each);

/* The same, of which none is complete. */
struct amounts in_flight(struct amounts amounts);

/* Waits for the partner without being counted. */
void meet(void);

/* A duplicate of MPI_COMM_WORLD of this name. */
MPI_Comm make_named(const char *name);

#endif
