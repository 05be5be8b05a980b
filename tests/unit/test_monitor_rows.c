/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of made-up snapshots, of one process and merged over all ranks. Run on 1, 3 and 4 ranks. A
 * tick is half a nanosecond.
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

static void count_calls(int communicator, enum operation_kind kind, int64_t calls)
{
    counts[communicator].used = true;
    counts[communicator].operation[kind] = (struct count){.calls = calls};
}

/* By kind, then by communicator (MPI's own first, then by name, whatever their numbers and
   identities are), then in the order of functions.def. The snapshot's length is that of the longest
   one. Members that differ are unknown. */
TEST(merged_rows_are_sorted)
{
    communicators[1].order = 0;
    communicators[2] =
        (struct communicator){.identity = 5, .name = "b", .members = "0", .order = 2};
    communicators[3] =
        (struct communicator){.identity = 9, .name = "a", .members = "1", .order = 2};
    communicators[4] =
        (struct communicator){.identity = 7, .name = "a", .members = "0", .order = 2};
    communicators[5] = (struct communicator){.identity = 6, .name = "z", .order = 1};
    snprintf(communicators[5].members, sizeof communicators[5].members, "%d", rank);
    for (int i = 5; i > 0; i--) {
        count_calls(i, OPERATION_Barrier, 1);
        count_calls(i, OPERATION_Irecv, 1);
        count_calls(i, OPERATION_Send, i);
    }
    snapshot.asked = (MPIX_Monitor){.profile = 1, .pttopt = 1, .coll = 1};
    snapshot.cases[MPIX_MONITOR_WARNING_UNTRACKED] = 1;
    if (rank == ranks - 1)
        snapshot.end_ticks += TICKS_A_SECOND;
    struct rows rows;
    const bool made = rows_of_snapshot(&snapshot, &rows);
    const bool good = rows_gather(&rows, false, private_comm);
    assert_true(made && good);
    assert_near(rows.seconds, rank == 0 || rank == ranks - 1 ? 3.0 : 2.0, 1e-12);
    const int merged = rank == 0 ? ranks : 1;
    assert_int_equal(rows.cases[MPIX_MONITOR_WARNING_UNTRACKED], merged);
    static const int64_t sends[] = {1, 5, 4, 3, 2};
    assert_int_equal(rows.count, 15);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(rows.rows[2 * i].row.operation, "MPI_Send");
        assert_int_equal(rows.rows[2 * i].row.calls, merged * sends[i]);
        assert_string_equal(rows.rows[2 * i + 1].row.operation, "MPI_Irecv");
        assert_string_equal(rows.rows[10 + i].row.kind, "coll");
        assert_string_equal(rows.rows[10 + i].row.comm, rows.rows[2 * i].row.comm);
    }
    assert_string_equal(rows.rows[0].row.members, "0-9");
    assert_string_equal(rows.rows[2].row.members, merged > 1 ? "NA" : communicators[5].members);
    rows_free(&rows);
}

/* If a rank lacks memory, there are no merged rows, but no rank hangs. */
TEST(a_rank_lacked_memory)
{
    count_calls(1, OPERATION_Send, 1);
    struct rows rows;
    const bool made = rows_of_snapshot(&snapshot, &rows);
    rows.incomplete = rank == ranks - 1;
    const bool good = rows_gather(&rows, true, private_comm);
    assert_true(made);
    assert_int_equal(good, rank != 0);
    assert_int_equal(rows.incomplete, rank == 0 || rank == ranks - 1);
    rows_free(&rows);
}

static void create_comm(void) { MPI_Comm_dup(MPI_COMM_WORLD, &private_comm); }

static void free_comm(void) { MPI_Comm_free(&private_comm); }

const struct test_program test_program = {
    .mpi = true, .set_up = create_comm, .tear_down = free_comm, .before_each = set_up};
