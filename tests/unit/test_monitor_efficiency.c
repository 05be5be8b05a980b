/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiencies from made-up times of ranks. */
#include "helpers.h"

#include "monitor/lib/report/efficiency.h"

#include <math.h>

enum { ROWS = 5 };

static struct keyed_row made[ROWS];
static struct snapshot snapshot;

/* Returns rows of a rank that was 4 s in MPI: 1.5 s in barriers, of which 1 s for late ranks, 0.3 s
   in calls without waiting, and the rest in receives. */
static struct rows rows_of_rank(double seconds)
{
    static const struct {
        enum row_kind kind;
        int operation;
        double in_calls_s, waited_s;
    } cells[ROWS] = {{KIND_COLL, OPERATION_Barrier, 1.5, 1.0},
                     {KIND_CALLS, OPERATION_MONITOR, 0.1, NAN},
                     {KIND_CALLS, OPERATION_OTHER_MPI, 0.2, NAN},
                     {KIND_PTTOPT, OPERATION_Recv, 2.2, NAN},
                     {KIND_TOTAL, 0, 4.0, NAN}};
    for (int i = 0; i < ROWS; i++)
        made[i] = (struct keyed_row){.kind = cells[i].kind,
                                     .operation = cells[i].operation,
                                     .row = {.ranks = 2,
                                             .in_calls_s = cells[i].in_calls_s,
                                             .waited_s = cells[i].waited_s,
                                             .serialisation_eff_pct = NAN,
                                             .transfer_eff_pct = NAN,
                                             .parallel_eff_pct = NAN}};
    return (struct rows){.rows = made, .count = ROWS, .seconds = seconds};
}

TEST(times_of_a_rank)
{
    struct rows rows = rows_of_rank(10.0);
    snapshot.threads = 0;
    efficiency_set_times(&rows, &snapshot);
    assert_near(rows.outside.useful_s, 6.0, 1e-12);
    assert_near(rows.outside.longest_ideal_s, 7.0, 1e-12);
    assert_near(rows.outside.longest_unknown_s, 2.2, 1e-12);
}

/* The mean over the threads that call MPI. */
TEST(times_of_several_threads)
{
    struct rows rows = rows_of_rank(3.0);
    snapshot.threads = 2;
    efficiency_set_times(&rows, &snapshot);
    assert_near(rows.outside.useful_s, 1.0, 1e-12);
    assert_near(rows.outside.longest_ideal_s, 1.5, 1e-12);
    assert_near(rows.outside.longest_unknown_s, 1.1, 1e-12);
}

/* Collectives of one process don't wait. */
TEST(own_collectives)
{
    struct rows rows = rows_of_rank(10.0);
    snapshot.threads = 1;
    made[3].kind = KIND_COLL;
    made[3].row.ranks = 1;
    efficiency_set_times(&rows, &snapshot);
    assert_near(rows.outside.longest_unknown_s, 0.0, 1e-12);
}

/* Two ranks: 6 and 8 of 10 s are useful, 9 s without messages. */
TEST(efficiencies_of_all_ranks)
{
    struct rows rows = rows_of_rank(10.0);
    rows.outside = (struct times_outside){1, 6.0, 6.0, 9.0, 0.05};
    const struct times_outside other = {1, 8.0, 8.0, 8.5, 0.09};
    efficiency_add_times(&rows.outside, &other);
    efficiency_add_times(&rows.outside, &(struct times_outside){.longest_s = 1.0});
    const MPIX_Monitor_row *const total = &made[ROWS - 1].row;
    efficiency_set(&rows, 3);
    assert_true(isnan(total->parallel_eff_pct)); /* a rank is missing */
    efficiency_set(&rows, 2);
    assert_near(total->parallel_eff_pct, 70.0, 1e-9);
    assert_near(total->load_balance_pct, 87.5, 1e-9);
    assert_near(total->communication_eff_pct, 80.0, 1e-9);
    assert_near(total->serialisation_eff_pct, 800.0 / 9.0, 1e-9);
    assert_near(total->transfer_eff_pct, 90.0, 1e-9);
    rows = rows_of_rank(10.0);
    rows.outside = (struct times_outside){2, 14.0, 8.0, 9.0, 0.11};
    efficiency_set(&rows, 2);
    assert_near(total->communication_eff_pct, 80.0, 1e-9);
    assert_true(isnan(total->serialisation_eff_pct) && isnan(total->transfer_eff_pct));
}

const struct test_program test_program = {.set_up = NULL};
