/*
 * Rows of snapshots that the tests make up, of one process and merged over all ranks. Run on 1, 2,
 * 3, 4 and 7 ranks. A tick is half a nanosecond.
 */
#include "ranks.h"

#include "monitor/lib/report/gather.h"
#include "monitor/lib/report/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm private_comm;

/* ---- stand-ins for other modules ------------------------------------------------------------- */

struct communicator communicators[COMMUNICATORS_KNOWN];

void communicator_find_members(struct communicator *record) { (void)record; }

#define TICKS_A_SECOND 2000000000

double ticks_ns(void) { return 0.5; }

static struct services services_now;

void services_read(struct services *services) { *services = services_now; }

void services_since(struct services *now, const struct services *before)
{
    for (int i = 0; i < now->count; i++)
        now->service[i].value -= before->service[i].value;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static struct communicator_counts counts[COMMUNICATORS_MAX + 1];
static struct snapshot snapshot;

static int set_up(void **state)
{
    memset(communicators, 0, sizeof communicators);
    memset(counts, 0, sizeof counts);
    services_now = (struct services){0};
    snapshot = (struct snapshot){
        .asked = {.profile = 1, .pttopt = 1, .coll = 1, .comm = 1, .msgsize = 1, .traffic = 1},
        .start_ticks = 1000,
        .end_ticks = 1000 + 2 * (uint64_t)TICKS_A_SECOND,
        .communicators = counts,
    };
    communicators[0] =
        (struct communicator){.name = "others", .members = "NA", .order = 2, .processes = ranks};
    communicators[1] = (struct communicator){
        .identity = 77, .name = "MPI_COMM_WORLD", .members = "0-9", .processes = ranks};
    return 0;
}

/* Counts completed operations, each of which took `ticks`. */
static struct count *count_operations(int communicator, enum operation_kind kind, int64_t completed,
                                      uint64_t ticks)
{
    struct count *const count = &counts[communicator].operation[kind];
    counts[communicator].used = true;
    *count = (struct count){.calls = completed,
                            .completed = completed,
                            .total_ticks = (double)completed * (double)ticks,
                            .max_ticks = ticks};
    return count;
}

static const MPIX_Monitor_row *find(const struct rows *rows, const char *kind, const char *comm,
                                    const char *operation)
{
    for (int i = 0; i < rows->count; i++) {
        const MPIX_Monitor_row *const row = &rows->rows[i].row;
        if (strcmp(row->kind, kind) == 0 && strcmp(row->comm, comm) == 0 &&
            strcmp(row->operation, operation) == 0)
            return row;
    }
    return NULL;
}

#define WORLD "MPI_COMM_WORLD"

enum { NA = MPIX_MONITOR_NA };

/* What a row must say. */
struct expected {
    const char *kind, *comm, *operation;
    struct {
        int64_t calls, completed, timeouts, bytes;
    } counts;
    struct {
        double total_s, mean_us, max_us;
        int max_rank;
        double slowest_s;
        int slowest_rank;
    } times;
};
#define NO_TIMES                                                                                   \
    {                                                                                              \
        NAN, NAN, NAN, NA, NAN, NA                                                                 \
    }

static void assert_real(double actual, double expected)
{
    assert_near(actual, expected, fabs(expected) * 1e-12);
}

static void check_row(const MPIX_Monitor_row *row, const struct expected *expected)
{
    if (row == NULL)
        fail_msg("no row %s %s %s", expected->kind, expected->comm, expected->operation);
    print_message("%s %s %s\n", row->kind, row->comm, row->operation);
    assert_int_equal(row->calls, expected->counts.calls);
    assert_int_equal(row->completed, expected->counts.completed);
    assert_int_equal(row->timeouts, expected->counts.timeouts);
    assert_int_equal(row->bytes, expected->counts.bytes);
    assert_real(row->total_s, expected->times.total_s);
    assert_real(row->mean_us, expected->times.mean_us);
    assert_real(row->max_us, expected->times.max_us);
    assert_int_equal(row->max_rank, expected->times.max_rank);
    assert_real(row->slowest_s, expected->times.slowest_s);
    assert_int_equal(row->slowest_rank, expected->times.slowest_rank);
    if (strcmp(row->kind, "workload") != 0) {
        assert_true(row->small == NA && row->large == NA && row->small_bytes == NA &&
                    row->large_bytes == NA);
        assert_true(isnan(row->small_per_s) && isnan(row->large_per_s));
    }
}

static void check_rows(const struct rows *rows, const struct expected *expected, size_t count)
{
    for (const struct expected *e = expected; e < expected + count; e++)
        check_row(find(rows, e->kind, e->comm, e->operation), e);
}

/* ---- one process ----------------------------------------------------------------------------- */

/* Two kinds of messages and a collective, with one call in flight. */
static void fill_world(void)
{
    struct count *const send = count_operations(1, OPERATION_Send, 4, 2000); /* 1 us each */
    send->calls = 5;
    send->timeouts = 2;
    send->bytes = 4096;
    send->max_ticks = 5000;
    count_operations(1, OPERATION_Irecv, 1, 600)->bytes = 100;
    count_operations(1, OPERATION_Allreduce, 10, 4000)->bytes = 80;
    counts[1].span[CLASS_POINT_TO_POINT] = (struct span){5000, 5000 + TICKS_A_SECOND};
    /* The other class goes on after the one and has begun before its end. */
    counts[1].span[CLASS_COLLECTIVE] = (struct span){5000 + 3 * (uint64_t)TICKS_A_SECOND / 4,
                                                     5000 + 5 * (uint64_t)TICKS_A_SECOND / 4};
    counts[1].messages[SMALL] = (struct messages){4, 96};
    counts[1].messages[LARGE] = (struct messages){1, 4000};
}

TEST(spans_may_overlap)
{
    fill_world();
    struct rows rows;
    assert_true(rows_of_snapshot(&snapshot, &rows));
    assert_int_equal(rows.count, 7);
    const struct expected expected[] = {
        {"comm", WORLD, "point-to-point", {6, 5, 2, 4196}, {1.0, NAN, NAN, NA, 1.0, rank}},
        {"comm", WORLD, "collective", {10, 10, 0, 80}, {0.5, NAN, NAN, NA, 0.5, rank}},
        {"comm", WORLD, "all", {16, 15, 2, 4276}, {1.25, NAN, NAN, NA, 1.25, rank}},
    };
    check_rows(&rows, expected, COUNT(expected));
    rows_free(&rows);
}

static int count_kind(const struct rows *rows, const char *kind)
{
    int count = 0;
    for (int i = 0; i < rows->count; i++)
        count += strcmp(rows->rows[i].row.kind, kind) == 0;
    return count;
}

/* By kind, then by communicator (MPI's own first, then by name, whatever their numbers and
   identities are), then in the order of functions.def. */
TEST(rows_are_sorted)
{
    communicators[1].order = 0;
    communicators[2] =
        (struct communicator){.identity = 5, .name = "b", .members = "0", .order = 2};
    communicators[3] =
        (struct communicator){.identity = 9, .name = "a", .members = "1", .order = 2};
    communicators[4] =
        (struct communicator){.identity = 7, .name = "a", .members = "0", .order = 2};
    communicators[5] =
        (struct communicator){.identity = 6, .name = "z", .members = "0", .order = 1};
    for (int i = 5; i > 0; i--) {
        count_operations(i, OPERATION_Barrier, 1, 1);
        count_operations(i, OPERATION_Irecv, 1, 1);
        count_operations(i, OPERATION_Send, i, 1);
    }
    snapshot.asked = (MPIX_Monitor){.profile = 1, .pttopt = 1, .coll = 1};
    struct rows rows;
    assert_true(rows_of_snapshot(&snapshot, &rows));
    static const int64_t sends[] = {1, 5, 4, 3, 2};
    assert_int_equal(rows.count, 15);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(rows.rows[2 * i].row.operation, "MPI_Send");
        assert_int_equal(rows.rows[2 * i].row.calls, sends[i]);
        assert_string_equal(rows.rows[2 * i + 1].row.operation, "MPI_Irecv");
        assert_string_equal(rows.rows[10 + i].row.kind, "coll");
        assert_string_equal(rows.rows[10 + i].row.comm, rows.rows[2 * i].row.comm);
    }
    rows_free(&rows);
}

/* A name that reads like another one's says what made the communicator, too. */
TEST(names_tell_communicators_apart)
{
    static const struct communicator named[] = {
        {.name = WORLD, .made = "MPI_Comm_dup 1", .members = "0-9"},
        {.name = "a", .made = "MPI_Comm_dup 2", .members = "0-9"},
        {.name = "NA", .made = "MPI_Comm_split 3", .members = "0-9"},
        {.name = "MPI_Cart_create 1", .made = "MPI_Comm_split 4", .members = "0-9"}};
    static const char *const expected[] = {WORLD " (MPI_Comm_dup 1)", "a", "NA (MPI_Comm_split 3)",
                                           "MPI_Cart_create 1"};
    for (int i = 0; i < (int)COUNT(named); i++) {
        communicators[2 + i] = named[i];
        communicators[2 + i].order = 2;
        communicators[2 + i].identity = 100 + (uint64_t)i;
        communicators[2 + i].origin.is_named = true;
        count_operations(2 + i, OPERATION_Barrier, 1 + i, 1);
    }
    count_operations(1, OPERATION_Barrier, 1000, 1);
    struct rows rows;
    assert_true(rows_of_snapshot(&snapshot, &rows));
    assert_int_equal(find(&rows, "coll", WORLD, "MPI_Barrier")->calls, 1000);
    for (int i = 0; i < (int)COUNT(named); i++) {
        const MPIX_Monitor_row *const row = find(&rows, "coll", expected[i], "MPI_Barrier");
        assert_non_null(row);
        assert_int_equal(row->calls, 1 + i);
    }
    rows_free(&rows);
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* Counts that differ from rank to rank; the slowest rank is not the last one. */
static uint64_t ticks_of(int of) { return (uint64_t)(of == ranks / 2 ? 9000 : 1000 + of); }

/* The sum of a term over all ranks. */
static double sum_over_ranks(double (*term)(int of))
{
    double sum = 0.0;
    for (int i = 0; i < ranks; i++)
        sum += term(i);
    return sum;
}

static double sends_of(int of) { return of + 1; }

static double ticks_of_sends_of(int of) { return (of + 1) * (double)ticks_of(of); }

/* What each rank counts. All ranks: sends in MPI_COMM_WORLD, a barrier in MPI_COMM_SELF and a
   broadcast in a communicator that they name differently. Odd ranks: also receives. Odd ranks and
   even ranks: a collective in a communicator of their own. The last rank: also a put in a
   communicator that no other rank has. */
static void fill_rank(void)
{
    struct count *const send = count_operations(1, OPERATION_Send, rank + 1, ticks_of(rank));
    send->calls += 1;
    send->timeouts = rank;
    send->bytes = 10 * rank;
    counts[1].span[CLASS_POINT_TO_POINT] = (struct span){7, 7 + ticks_of(rank)};
    counts[1].messages[SMALL] = (struct messages){rank, 8 * rank};
    counts[1].messages[LARGE] = (struct messages){2, 200000};
    if (rank % 2 == 1)
        count_operations(1, OPERATION_Recv, 1, 100);
    communicators[2] =
        (struct communicator){.identity = 100 + (uint64_t)(rank % 2),
                              .name = "MPI_Comm_split 1",
                              .order = 2,
                              .processes = rank % 2 == 0 ? (ranks + 1) / 2 : ranks / 2};
    strcpy(communicators[2].members, rank % 2 == 0 ? "0-8/2" : "1-9/2");
    count_operations(2, OPERATION_Allreduce, 3, 2000);
    communicators[3] =
        (struct communicator){.identity = 50, .name = "MPI_COMM_SELF", .order = 1, .processes = 1};
    snprintf(communicators[3].members, sizeof communicators[3].members, "%d", rank);
    count_operations(3, OPERATION_Barrier, 1, 20);
    communicators[4] =
        (struct communicator){.identity = 40, .order = 2, .members = "0-9", .processes = ranks};
    snprintf(communicators[4].name, sizeof communicators[4].name, "rank %d's", (rank + 5) % 10);
    count_operations(4, OPERATION_Bcast, 1, 2000); /* equally slow everywhere */
    if (rank == ranks - 1) {
        communicators[9] =
            (struct communicator){.identity = 3, .name = "alone", .order = 2, .processes = 1};
        count_operations(9, OPERATION_Put, 1, 10);
    }
    snapshot.end_ticks += (uint64_t)(rank == 1 ? TICKS_A_SECOND : 0);
    snapshot.cases[MPIX_MONITOR_WARNING_UNTRACKED] = 1;
    snapshot.cases[MPIX_MONITOR_WARNING_UNTOLD] = rank;
    snapshot.cases[MPIX_MONITOR_WARNING_UNKEPT] = 2;
    snapshot.cases[MPIX_MONITOR_WARNING_UNSIZED] = 3;
    count_operations(0, OPERATION_Send, 2, 10);
    snapshot.asked.other = 1;
    /* The last rank can't read a service that the others can. The library's variables have other
       places on other ranks. */
    services_now =
        (struct services){.count = SERVICES_OF_SYSTEM,
                          .service = {{"user_time", true, 0.0, 1.0 + (rank == 0)},
                                      {"system_time", true, 0.0, rank == ranks - 1 ? NAN : 1.0},
                                      {"faults", false, 0.0, 5.0},
                                      {.name = "a"},
                                      {.name = "b"},
                                      {.name = "c"}}};
    if (rank % 2 == 1)
        services_now.service[services_now.count++] =
            (struct service){"a_variable", false, 0.0, 1.0};
    services_now.service[services_now.count++] = (struct service){"library's", false, 0.0, 3.0};
    snapshot.services.count = services_now.count;
}

TEST(all_ranks_are_put_together)
{
    fill_rank();
    struct rows rows, own;
    const bool made = rows_of_snapshot(&snapshot, &rows) && rows_of_snapshot(&snapshot, &own);
    const bool good = rows_gather(&rows, true, private_comm);
    assert_true(made && good);
    if (rank != 0) {
        assert_int_equal(rows.count, own.count);
        assert_memory_equal(rows.rows, own.rows, (size_t)own.count * sizeof *own.rows);
        rows_free(&rows);
        rows_free(&own);
        return;
    }
    rows_free(&own);
    const int odd = ranks / 2, even = ranks - odd, slowest = ranks / 2;
    assert_near(rows.seconds, ranks > 1 ? 3.0 : 2.0, 1e-12);
    assert_int_equal(rows.cases[MPIX_MONITOR_WARNING_UNTRACKED], ranks);
    assert_int_equal(rows.cases[MPIX_MONITOR_WARNING_UNTOLD], ranks * (ranks - 1) / 2);
    assert_int_equal(rows.cases[MPIX_MONITOR_WARNING_UNPLACED], 2 * ranks);
    assert_int_equal(rows.cases[MPIX_MONITOR_WARNING_UNKEPT], 2 * ranks);
    assert_int_equal(rows.cases[MPIX_MONITOR_WARNING_UNSIZED], 3 * ranks);
    for (int i = 0; i < rows.count; i++)
        assert_int_equal(rows.rows[i].row.rank, NA);

    const double sends = sum_over_ranks(sends_of);
    const double total_s = sum_over_ranks(ticks_of_sends_of) / TICKS_A_SECOND;
    double slowest_s = 0.0;
    int slowest_rank = NA;
    for (int i = 0; i < ranks; i++)
        if (ticks_of_sends_of(i) / TICKS_A_SECOND > slowest_s) {
            slowest_s = ticks_of_sends_of(i) / TICKS_A_SECOND;
            slowest_rank = i;
        }
    const int small = ranks * (ranks - 1) / 2, calls = (int)sends + ranks;
    const double others_s = ranks > 1 ? ranks - 1.0 : NAN;
    const struct expected expected[] = {
        {"pttopt",
         WORLD,
         "MPI_Send",
         {calls, (int)sends, small, 10 * small},
         {total_s, total_s * 1e6 / sends, 4.5, slowest, slowest_s, slowest_rank}},
        {"pttopt",
         "alone",
         "MPI_Put",
         {1, 1, 0, 0},
         {5e-9, 0.005, 0.005, ranks - 1, 5e-9, ranks - 1}},
        /* A communicator's span is the longest one. */
        {"comm",
         WORLD,
         "point-to-point",
         {calls + odd, (int)sends + odd, small, 10 * small},
         {4.5e-6, NAN, NAN, NA, 4.5e-6, slowest}},
        {"workload", WORLD, "messages", {NA, NA, NA, 8 * small + 200000 * ranks}, NO_TIMES},
        /* A communicator of each process, and one that each process names differently. */
        {"coll",
         "MPI_COMM_SELF",
         "MPI_Barrier",
         {ranks, ranks, 0, 0},
         {ranks * 1e-8, 0.01, 0.01, 0, 1e-8, 0}},
        {"coll",
         "rank 5's",
         "MPI_Bcast",
         {ranks, ranks, 0, 0},
         {ranks * 1e-6, 1.0, 1.0, 0, 1e-6, 0}},
        {"other", "NA", "user_time", {NA, NA, NA, NA}, {ranks + 1.0, NAN, NAN, NA, 2.0, 0}},
        {"other", "NA", "faults", {5 * ranks, NA, NA, NA}, NO_TIMES},
        {"other",
         "NA",
         "system_time",
         {NA, NA, NA, NA},
         {others_s, NAN, NAN, NA, ranks > 1 ? 1.0 : NAN, ranks > 1 ? 0 : NA}},
        {"other", "NA", "library's", {3 * ranks, NA, NA, NA}, NO_TIMES},
        /* Operations of some ranks only. */
        {"pttopt", WORLD, "MPI_Recv", {odd, odd, 0, 0}, {odd * 5e-8, 0.05, 0.05, 1, 5e-8, 1}},
        {"other", "NA", "a_variable", {odd, NA, NA, NA}, NO_TIMES},
    };
    check_rows(&rows, expected, COUNT(expected) - (odd == 0 ? 2 : 0));
    const MPIX_Monitor_row *row = find(&rows, "pttopt", WORLD, "MPI_Send");
    assert_int_equal(row->ranks, ranks);
    assert_string_equal(row->members, "0-9");
    row = find(&rows, "coll", "MPI_COMM_SELF", "MPI_Barrier");
    assert_string_equal(row->members, ranks > 1 ? "NA" : "0");
    assert_int_equal(row->ranks, 1);
    row = find(&rows, "workload", WORLD, "messages");
    assert_true(row->small == small && row->small_bytes == 8 * small);
    assert_true(row->large == 2 * ranks && row->large_bytes == 200000 * ranks);
    assert_real(row->small_per_s, small / rows.seconds); /* over the longest snapshot */
    assert_real(row->large_per_s, 2 * ranks / rows.seconds);

    /* Two communicators of the same name have a row each. */
    for (int i = 0; i < rows.count; i++) {
        row = &rows.rows[i].row;
        if (strcmp(row->comm, "MPI_Comm_split 1") != 0 || strcmp(row->kind, "coll") != 0)
            continue;
        const bool is_odd = strcmp(row->members, "1-9/2") == 0;
        const int members = is_odd ? odd : even;
        check_row(row,
                  &(struct expected){.counts = {3 * members, 3 * members, 0, 0},
                                     .times = {members * 3e-6, 1.0, 1.0, is_odd, 3e-6, is_odd}});
    }

    /* pttopt: world 1 or 2, alone, others; coll: self, split 1 or 2, named; comm: 3 of each
       communicator; workload: world, alone, others. */
    const int splits = ranks > 1 ? 2 : 1;
    assert_int_equal(count_kind(&rows, "pttopt"), 3 + (odd > 0));
    assert_int_equal(count_kind(&rows, "coll"), 2 + splits);
    assert_int_equal(count_kind(&rows, "comm"), 3 * (5 + splits));
    assert_int_equal(count_kind(&rows, "workload"), 3);
    assert_int_equal(count_kind(&rows, "other"), SERVICES_OF_SYSTEM + 1 + (odd > 0));
    static const char *const order[] = {
        "MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_Comm_split 1", "alone", "others", "rank 5's", ""};
    int place = 0;
    for (int i = 0; i < rows.count; i++)
        if (strcmp(rows.rows[i].row.kind, "comm") == 0) {
            while (place < 6 && strcmp(rows.rows[i].row.comm, order[place]) != 0)
                place++;
            assert_true(place < 6);
        }
    rows_free(&rows);
}

/* More rows than MPI buffers in one message, different ones on each rank. */
TEST(many_rows)
{
    for (int i = 1; i < COMMUNICATORS_MAX; i++) {
        communicators[i] =
            (struct communicator){.identity = (uint64_t)(i % 2 == 0 ? i : 1000 * (rank + 1) + i),
                                  .name = "some",
                                  .order = 2};
        for (int kind = OPERATION_Send; kind <= OPERATION_Recv; kind++)
            count_operations(i, (enum operation_kind)kind, i, 10);
    }
    snapshot.asked = (MPIX_Monitor){.profile = 1, .pttopt = 1};
    struct rows rows;
    const bool made = rows_of_snapshot(&snapshot, &rows);
    const bool good = rows_gather(&rows, true, private_comm);
    assert_true(made && good);
    const int kinds = OPERATION_Recv - OPERATION_Send + 1;
    int64_t calls = 0;
    for (int i = 0; i < rows.count; i++)
        calls += rows.rows[i].row.calls;
    const int shared = COMMUNICATORS_MAX / 2 - 1, own = COMMUNICATORS_MAX / 2;
    assert_int_equal(rows.count, kinds * (shared + own * (rank == 0 ? ranks : 1)));
    assert_int_equal(calls, kinds * COMMUNICATORS_MAX * (COMMUNICATORS_MAX - 1) / 2 *
                                (rank == 0 ? ranks : 1));
    rows_free(&rows);
}

/* The most, or least, that a rank has, whichever rank that is; of ranks that waited. */
TEST(most_neighbours_and_least_waiting)
{
    for (int most = 0; most < ranks; most++) {
        fill_world();
        struct rows rows;
        const bool made = rows_of_snapshot(&snapshot, &rows);
        for (int i = 0; i < rows.count; i++) {
            rows.rows[i].row.neighbours = rank == most ? 5 : 1 + rank % 2;
            rows.rows[i].row.least_waited_s = rank == most ? 0.5 : rank % 2 == 1 ? NAN : 1.0 + rank;
        }
        const bool good = rows_gather(&rows, true, private_comm);
        assert_true(made && good);
        if (rank == 0) {
            const MPIX_Monitor_row *const sends =
                find(&rows, "pttopt", "MPI_COMM_WORLD", "MPI_Send");
            assert_int_equal(sends->neighbours, 5);
            assert_near(sends->least_waited_s, 0.5, 0.0);
        }
        rows_free(&rows);
    }
}

/* If a rank lacks memory, there are no merged rows, but no rank hangs. */
TEST(a_rank_lacked_memory)
{
    fill_world();
    struct rows rows;
    const bool made = rows_of_snapshot(&snapshot, &rows);
    rows.incomplete = rank == ranks - 1;
    const bool good = rows_gather(&rows, true, private_comm);
    assert_true(made);
    assert_int_equal(good, rank != 0);
    assert_int_equal(rows.incomplete, rank == 0 || rank == ranks - 1);
    assert_int_equal(rows.count, 7);
    rows_free(&rows);
}

static void create_comm(void) { MPI_Comm_dup(MPI_COMM_WORLD, &private_comm); }

static void free_comm(void) { MPI_Comm_free(&private_comm); }

const struct test_program test_program = {
    .mpi = true, .set_up = create_comm, .tear_down = free_comm, .before_each = set_up};
