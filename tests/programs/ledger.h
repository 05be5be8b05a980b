/*
 * The handles of a process that were made and not yet freed. Any thread may call any of it at any
 * time.
 *
 * Libraries give one and the same handle to several things (MPICH and Open MPI have a single
 * request for all operations that are complete when their call returns), so handles are counted.
 */
#ifndef LEAKS_LEDGER_H
#define LEAKS_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/* KIND(NAME, name in the report) */
#define HANDLE_KINDS(KIND)                                                                         \
    KIND(COMMUNICATOR, "communicator")                                                             \
    KIND(DATATYPE, "datatype")                                                                     \
    KIND(ERROR_HANDLER, "error handler")                                                           \
    KIND(GROUP, "group")                                                                           \
    KIND(INFO, "info")                                                                             \
    KIND(REQUEST, "request")                                                                       \
    KIND(WINDOW, "window")

enum handle_kind {
#define KIND(NAME, name) NAME,
    HANDLE_KINDS(KIND)
#undef KIND
        KINDS
};

/* A handle as a number: the bytes of its variable. */
uint64_t handle_number(const void *handle, int size_bytes);

/* `function` made the handle, called from `caller`; it must stay in memory. */
void ledger_made(enum handle_kind kind, uint64_t handle, const char *function, const void *caller);

/* `function` freed it. What was never made counts as unknown: a function is missing in handles.def,
   or something was freed twice. */
void ledger_freed(enum handle_kind kind, uint64_t handle, const char *function, const void *caller);

/*
 * What there is on this process, whose rank is given, written to $LEAKS_REPORT.RANK if that
 * variable is set:
 *
 *   kind  made  freed  left  unknown      a row each, tab-separated, after a header row
 *
 * and a line on stderr for each place in the program that made something that is left or freed
 * something unknown. True if there is neither.
 */
bool ledger_report(int rank);

/* Whether any of that kind are left. */
bool ledger_has(enum handle_kind kind);

#endif
