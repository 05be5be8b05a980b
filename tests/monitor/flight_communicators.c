/*
 * Communicators that are made and freed in a snapshot, and more of them than there is room for.
 */
#include "flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MORE_THAN_FIT = 600, BYTES = 8 };
static const char *const OTHERS = "(other communicators)";

/* They may have the same handle, but each has its own counts. */
static void come_and_go(void)
{
    struct watch watch;
    test_about("communicators that come and go");
    watch_begin(&watch);
    for (int i = 1; i <= 3; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "brief %d", i);
        MPI_Comm brief = make_named(name);
        for (int calls = 0; calls < i; calls++)
            MPI_Barrier(brief);
        MPI_Comm_free(&brief);
        expect(&watch, COLL, "MPI_COMM_WORLD", "MPI_Comm_dup", completed_calls(1, 0));
        expect(&watch, COLL, name, "MPI_Barrier", completed_calls(i, 0));
        expect(&watch, COLL, name, "MPI_Comm_free", completed_calls(1, 0));
    }
    watch_end(&watch);
}

static void check_description(const MPIX_Monitor_row *row, int ranks, const char *members)
{
    char what[200];
    check_equal("ranks", row->ranks, ranks);
    (void)snprintf(what, sizeof what, "the members of %s are %s, should be %s", row->comm,
                   row->members, members);
    check(strcmp(row->members, members) == 0, what);
}

static void described(void)
{
    MPIX_Monitor handle = {.profile = 1, .coll = 1};
    MPIX_Monitor_request request;
    MPI_Comm inter;
    int count = 0;
    test_about("what rows say of communicators");
    MPI_Intercomm_create(MPI_COMM_SELF, 0, one, partner, TAG, &inter);
    MPIX_Start_monitor(&request, &handle, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Barrier(inter);
    MPIX_End_monitor(&request, &handle);
    MPIX_Monitor_row *const rows = rows_of(&request, &count);
    if (check_equal("rows", count, 3)) {
        check(strcmp(rows[0].comm, "MPI_COMM_WORLD") == 0 &&
                  strcmp(rows[1].comm, "MPI_COMM_SELF") == 0,
              "the order of rows");
        check_description(&rows[0], 2, "0-1");
        check_description(&rows[1], 1, me == 0 ? "0" : "1");
        check_description(&rows[2], 2, "0-1");
    }
    free(rows);
    MPI_Comm_free(&inter);
}

/* Every other one of many communicators is freed; the rest stay known. */
static void thinned_out(void)
{
    enum { COMMUNICATORS = 400 };
    static MPI_Comm comms[COMMUNICATORS];
    struct watch watch;
    char name[32];
    test_about("many communicators, of which some are freed");
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
        (void)snprintf(name, sizeof name, "%d", i);
        MPI_Comm_set_name(comms[i], name);
    }
    for (int i = 0; i < COMMUNICATORS; i += 2)
        MPI_Comm_free(&comms[i]);
    watch_begin(&watch);
    for (int i = 1; i < COMMUNICATORS; i += 2) {
        MPI_Barrier(comms[i]);
        (void)snprintf(name, sizeof name, "%d", i);
        expect(&watch, COLL, name, "MPI_Barrier", completed_calls(1, 0));
    }
    watch_end(&watch);
    for (int i = 1; i < COMMUNICATORS; i += 2)
        MPI_Comm_free(&comms[i]);
}

/* Sums over all communicators. */
struct sums {
    int64_t calls, bytes, calls_on_others;
    int communicators;
};

/* The sums of MPI_Alltoall. */
static struct sums sums_of(const MPIX_Monitor_request *request)
{
    struct sums sums = {0};
    int count = 0;
    MPIX_Monitor_row *const rows = rows_of(request, &count);
    for (int i = 0; i < count; i++) {
        if (strcmp(rows[i].operation, "MPI_Alltoall") != 0)
            continue;
        sums.calls += rows[i].calls;
        sums.bytes += rows[i].bytes;
        if (strcmp(rows[i].comm, OTHERS) == 0) {
            sums.calls_on_others += rows[i].calls;
            check_equal("ranks of other communicators", rows[i].ranks, MPIX_MONITOR_NA);
        } else {
            sums.communicators++;
            check_equal("calls on a communicator that has a row", rows[i].calls, 1);
        }
        check_equal("completed", rows[i].completed, rows[i].calls);
    }
    free(rows);
    return sums;
}

/* Calls MPI_Alltoall on each of MORE_THAN_FIT duplicates of MPI_COMM_SELF. They exist at a time, or
   one after the other with a name each. */
static struct sums exchange_on_many(bool at_a_time)
{
    char name[32];
    static MPI_Comm comms[MORE_THAN_FIT];
    MPIX_Monitor handle = {.profile = 1, .coll = 1};
    MPIX_Monitor_request request;
    MPIX_Start_monitor(&request, &handle, NULL);
    for (int i = 0; i < MORE_THAN_FIT; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
        (void)snprintf(name, sizeof name, "brief %d", i);
        if (!at_a_time)
            MPI_Comm_set_name(comms[i], name);
        MPI_Alltoall(buffer, BYTES, MPI_BYTE, buffer + BYTES, BYTES, MPI_BYTE, comms[i]);
        if (!at_a_time)
            MPI_Comm_free(&comms[i]);
    }
    MPIX_End_monitor(&request, &handle);
    for (int i = 0; i < MORE_THAN_FIT && at_a_time; i++)
        MPI_Comm_free(&comms[i]);
    return sums_of(&request);
}

/* The sums are right, whichever communicators have their own row, and at least 500 have one. */
static void check_many(bool at_a_time)
{
    const struct sums sums = exchange_on_many(at_a_time);
    check_equal("calls", sums.calls, MORE_THAN_FIT);
    check_equal("bytes", sums.bytes, (int64_t)MORE_THAN_FIT * BYTES);
    check_equal("calls on those without a row", sums.calls_on_others,
                MORE_THAN_FIT - sums.communicators);
    check(sums.communicators >= 500 && sums.communicators < 512,
          "as many as there is room for have a row");
}

/* A communicator without a name counts as an equal one that was freed before. */
static void alike(void)
{
    struct watch watch;
    test_about("communicators without a name, one after the other");
    watch_begin(&watch);
    for (int i = 0; i < MORE_THAN_FIT; i++) {
        MPI_Comm first, second;
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &first);
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &second);
        MPI_Barrier(first);
        MPI_Barrier(second);
        MPI_Barrier(second);
        MPI_Comm_free(&second);
        MPI_Comm_free(&first);
    }
    expect(&watch, COLL, "MPI_Comm_split 1", "MPI_Barrier", completed_calls(MORE_THAN_FIT, 0));
    expect(&watch, COLL, "MPI_Comm_split 2", "MPI_Barrier",
           completed_calls(INT64_C(2) * MORE_THAN_FIT, 0));
    expect(&watch, COLL, "MPI_Comm_split 1", "MPI_Comm_free", completed_calls(MORE_THAN_FIT, 0));
    expect(&watch, COLL, "MPI_Comm_split 2", "MPI_Comm_free", completed_calls(MORE_THAN_FIT, 0));
    expect(&watch, COLL, "MPI_COMM_SELF", "MPI_Comm_split",
           completed_calls(INT64_C(2) * MORE_THAN_FIT, 0));
    watch_end(&watch);
}

/* Functions that delete attributes may still use the communicator that is being freed. The next
   communicator may get its handle. */
static int last_barrier(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    return MPI_Barrier(comm);
}

static void used_while_freed(void)
{
    struct watch watch;
    int keyval;
    test_about("a communicator that is used while it is freed");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_barrier, &keyval, NULL);
    watch_begin(&watch);
    for (int i = 0; i < 3; i++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 == 0 ? 0 : me, me, &comm);
        MPI_Comm_set_name(comm, i % 2 == 0 ? "wide" : "narrow");
        MPI_Comm_set_attr(comm, keyval, &keyval);
        int counts[2] = {BYTES, 1 << 20}, displacements[2] = {0, 0};
        if (i % 2 == 1)
            MPI_Alltoallv(buffer, counts, displacements, MPI_BYTE, buffer + BYTES, counts,
                          displacements, MPI_BYTE, comm);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free_keyval(&keyval);
    expect(&watch, COLL, "MPI_COMM_WORLD", "MPI_Comm_split", completed_calls(3, 0));
    for (int i = 0; i < 2; i++) {
        expect(&watch, COLL, "wide", "MPI_Barrier", completed_calls(1, 0));
        expect(&watch, COLL, "wide", "MPI_Comm_free", completed_calls(1, 0));
    }
    expect(&watch, COLL, "narrow", "MPI_Alltoallv", completed_calls(1, BYTES));
    expect(&watch, COLL, "narrow", "MPI_Barrier", completed_calls(1, 0));
    expect(&watch, COLL, "narrow", "MPI_Comm_free", completed_calls(1, 0));
    watch_end(&watch);
}

static void too_many(void)
{
    test_about("more communicators than fit, at a time");
    check_many(true);
    /* When they are freed, there is room again. */
    check_many(true);
    test_about("more communicators than fit, one after the other");
    check_many(false);
    check_many(false);
}

void fly_communicators(void)
{
    come_and_go();
    described();
    thinned_out();
    alike();
    used_while_freed();
    too_many();
    come_and_go();
}
