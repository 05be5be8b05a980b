/*
 * One-sided operations in flight. A synchronisation ends those of its window and its target only.
 */
#include "flight.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Windows smaller than a page fail in MPICH 4.0.2. */
enum { WINDOW_BYTES = 8192 };

static MPI_Win win, other;

static void put(int bytes, int target, MPI_Win on)
{
    MPI_Put(buffer, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, on);
}

static struct amounts of_puts(int64_t calls, int64_t completed, int64_t bytes)
{
    return (struct amounts){.calls = calls,
                            .completed = completed,
                            .bytes = bytes,
                            .small = calls,
                            .small_bytes = bytes};
}

static void started_before(void)
{
    struct watch watch;
    test_about("a put before the start, the flush inside");
    put(10, 1, win);
    watch_begin(&watch);
    MPI_Win_flush(1, win);
    watch_end(&watch);
}

static void ended_after(void)
{
    struct watch watch;
    test_about("a put inside, the flush after the end");
    watch_begin(&watch);
    put(10, 1, win);
    expect(&watch, PTTOPT, "one", "MPI_Put", of_puts(1, 0, 10));
    watch_end(&watch);
    MPI_Win_flush(1, win);
}

/* The flush of ended_after isn't seen. The put that it ended must not end in a later snapshot, nor
   be held together with a put there. */
static void unseen_flush(void)
{
    struct watch watch;
    test_about("a flush while nothing was monitored");
    ended_after();
    watch_begin(&watch);
    put(20, 1, win);
    MPI_Win_flush_all(win);
    expect(&watch, PTTOPT, "one", "MPI_Put", of_puts(1, 1, 20));
    watch_end(&watch);
}

/* Puts of one kind and target that began in different snapshots. */
static void overlapping(void)
{
    struct watch first, second, third;
    test_about("overlapping snapshots of puts");
    watch_begin(&first);
    put(1, 1, win);
    put(1, 1, win);
    watch_begin(&second);
    put(10, 1, win);
    expect(&first, PTTOPT, "one", "MPI_Put", of_puts(3, 0, 12));
    watch_end(&first);
    put(100, 1, win);
    watch_begin(&third);
    MPI_Win_flush(1, win);
    expect(&second, PTTOPT, "one", "MPI_Put", of_puts(2, 2, 110));
    watch_end(&second);
    watch_end(&third);
}

/* Calls the function within a snapshot of its own. The flushes that had nothing to complete. */
static int64_t idle_flushes(void (*flush)(void))
{
    MPIX_Monitor handle = {.profile = 1, .calls = 1};
    MPIX_Monitor_request request;
    int64_t idle = 0;
    int count;
    MPIX_Start_monitor(&request, &handle, NULL);
    flush();
    MPIX_End_monitor(&request, &handle);
    MPIX_Monitor_row *const rows = rows_of(&request, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].operation, "MPI_Win_flush") == 0)
            idle = rows[i].joinable;
    free(rows);
    return idle;
}

static void flush_one(void) { MPI_Win_flush(1, win); }

static void flush_all_then_one(void)
{
    MPI_Win_flush_all(win);
    flush_one();
}

static void flush_in_another(void)
{
    flush_all_then_one();
    check_equal("idle flushes after the start", idle_flushes(flush_one), 0);
    check_equal("idle flushes after one of all", idle_flushes(flush_all_then_one), 1);
}

/* A flush after the start of a snapshot isn't called idle before one of all targets, whatever is
   known from an earlier snapshot. */
static void idle_since_the_start(void)
{
    test_about("flushes after a start");
    check_equal("idle flushes", idle_flushes(flush_in_another), 2);
}

static void one_target(void)
{
    struct watch watch, whole;
    test_about("the flush of one target");
    watch_begin(&whole);
    watch_begin(&watch);
    put(10, 0, win);
    put(20, 1, win);
    MPI_Get(buffer, 30, MPI_BYTE, 1, 0, 30, MPI_BYTE, win);
    put(40, 0, win);
    MPI_Win_flush_local(1, win);
    expect(&watch, PTTOPT, "one", "MPI_Put", of_puts(3, 1, 70));
    expect(&watch, PTTOPT, "one", "MPI_Get", of_puts(1, 1, 30));
    watch_end(&watch);
    MPI_Win_flush(0, win);
    expect(&whole, PTTOPT, "one", "MPI_Put", of_puts(3, 3, 70));
    expect(&whole, PTTOPT, "one", "MPI_Get", of_puts(1, 1, 30));
    watch_end(&whole);
}

static void other_window(void)
{
    struct watch watch;
    test_about("the flush of another window");
    watch_begin(&watch);
    put(10, 1, win);
    put(20, 1, other);
    MPI_Win_flush(1, other);
    expect(&watch, PTTOPT, "one", "MPI_Put", of_puts(1, 0, 10));
    expect(&watch, PTTOPT, "two", "MPI_Put", of_puts(1, 1, 20));
    watch_end(&watch);
    MPI_Win_flush_all(win);
}

/* A wait ends an operation with a request, a flush doesn't. In some libraries operations that are
   complete when they are posted share a request, and end there. */
static void with_request(void)
{
    struct watch watch;
    test_about("MPI_Rput and a flush");
    watch_begin(&watch);
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++)
        MPI_Rput(buffer, 10, MPI_BYTE, 1, 0, 10, MPI_BYTE, win, &requests[i]);
    const bool at_once = requests[0] == requests[1];
    MPI_Win_flush(1, win);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "one", "MPI_Rput", of_puts(2, at_once ? 2 : 1, 20));
    watch_end(&watch);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

/* After a failed synchronisation the operations are still in flight. */
static void failed(void)
{
    struct watch watch;
    test_about("a synchronisation that fails");
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    watch_begin(&watch);
    put(10, 1, win);
    put(20, 0, win);
    check(MPI_Win_complete(win) != MPI_SUCCESS, "MPI_Win_complete without a start fails");
    check(MPI_Put(buffer, 30, MPI_BYTE, 99, 0, 30, MPI_BYTE, win) != MPI_SUCCESS,
          "MPI_Put to rank 99 fails");
    MPI_Win_flush(0, win);
    expect(&watch, PTTOPT, "one", "MPI_Put", of_puts(3, 1, 60));
    watch_end(&watch);
    MPI_Win_flush_all(win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

/* For one snapshot two puts are late and two aren't; for the other none is. */
static void late(void)
{
    struct watch impatient, patient;
    test_about("puts that take longer than the timeout");
    const MPIX_Monitor asked = {
        .profile = 1, .pttopt = 1, .comm = 1, .large_bytes = LARGE_BYTES, .timeout_us = 50e3};
    watch_begin(&patient);
    watch_begin_with(&impatient, asked);
    put(10, 1, win);
    put(10, 1, win);
    sleep_ms(120);
    put(10, 1, win);
    put(10, 1, win);
    MPI_Win_flush(1, win);
    struct amounts amounts = of_puts(4, 4, 40);
    expect(&patient, PTTOPT, "one", "MPI_Put", amounts);
    amounts.timeouts = 2;
    expect(&impatient, PTTOPT, "one", "MPI_Put", amounts);
    watch_end(&impatient);
    watch_end(&patient);
}

/* More puts than are kept one by one while timeouts count: all complete, and then there is room
   again. */
static void too_many(void)
{
    enum { PUTS = (1 << 16) + 1000 };
    struct watch watch;
    test_about("more puts than are kept one by one");
    watch_begin_with(&watch, (MPIX_Monitor){.profile = 1, .pttopt = 1, .timeout_us = 1e9});
    for (int i = 0; i < PUTS; i++)
        put(1, 1, win);
    MPI_Win_flush_all(win);
    expect(&watch, PTTOPT, "one", "MPI_Put", of_puts(PUTS, PUTS, PUTS));
    late();
    expect(&watch, PTTOPT, "one", "MPI_Put", of_puts(4, 4, 40));
    watch_end(&watch);
}

enum { SNAPSHOTS = (1 << 14) + 100 };

/* More snapshots, with a put each, than there is room for puts that aren't held together. */
static void many_snapshots(bool flushed)
{
    for (int i = 0; i < SNAPSHOTS; i++) {
        MPIX_Monitor handle = {.profile = 1, .pttopt = 1};
        MPIX_Monitor_request request;
        MPIX_Start_monitor(&request, &handle, NULL);
        put(1, 1, win);
        MPIX_End_monitor(&request, &handle);
        if (flushed)
            MPI_Win_flush(1, win);
    }
}

/* Puts that don't end within their snapshot take no room from later ones. */
static void left_behind(void)
{
    many_snapshots(false);
    MPI_Win_flush(1, win);
    overlapping();
}

/* Nor do puts that have ended, in a snapshot over all. */
static void one_after_the_other(void)
{
    struct watch watch;
    test_about("puts of many snapshots inside one");
    watch_begin(&watch);
    many_snapshots(true);
    expect(&watch, PTTOPT, "one", "MPI_Put", of_puts(SNAPSHOTS, SNAPSHOTS, SNAPSHOTS));
    watch_end(&watch);
}

/* A window whose freeing ends what is in flight, and whose handle is used again. Collective. */
static void freed(void)
{
    struct watch watch;
    test_about("a window freed");
    void *base;
    MPI_Win brief;
    watch_begin(&watch);
    for (int i = 0; i < 3; i++) {
        MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, i == 1 ? two : one, &base, &brief);
        PMPI_Win_fence(0, brief);
        if (me == 0)
            put(10 + i, 1, brief);
        PMPI_Win_fence(0, brief);
        if (me == 0)
            expect(&watch, PTTOPT, i == 1 ? "two" : "one", "MPI_Put", of_puts(1, 1, 10 + i));
        MPI_Win_free(&brief);
        expect(&watch, COLL, i == 1 ? "two" : "one", "MPI_Win_allocate", completed_calls(1, 0));
        expect(&watch, COLL, i == 1 ? "two" : "one", "MPI_Win_free", completed_calls(1, 0));
    }
    watch_end(&watch);
}

void fly_windows(void)
{
    static void (*const flights[])(void) = {
        started_before, ended_after,  unseen_flush,       overlapping, idle_since_the_start,
        one_target,     other_window, with_request,       failed,      late,
        too_many,       left_behind,  one_after_the_other};
    void *base;
    MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, one, &base, &win);
    MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, two, &base, &other);
    if (me == 0) {
        MPI_Win_lock_all(0, win);
        MPI_Win_lock_all(0, other);
        for (size_t i = 0; i < sizeof flights / sizeof *flights; i++)
            flights[i]();
        MPI_Win_unlock_all(other);
        MPI_Win_unlock_all(win);
    }
    meet();
    MPI_Win_free(&other);
    MPI_Win_free(&win);
    freed();
}
