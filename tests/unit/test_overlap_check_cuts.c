/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts of the work by --test-calls: ranks that work count, in the requested form. Virtual time. */
#include "overlap/engine/program.h" /* first: its parameters have names of ranks.h */

#include "ranks.h"

#include "common/work/work.h"

/* Far more parts than the work under a quick operation has units, and far fewer than that under a
   slow one. */
#define CALLS 100000
#define SLOW_NS 20000000

static void rest(struct op_instance *operation) { bc_sleep_ns(SLOW_NS); }

/* Time must pass. */
static void do_nothing(struct op_instance *operation) { bc_work(1); }

static void persist(struct op_instance *operation)
{
    BC_MPI(
        MPI_Send_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, operation->comm, operation->requests));
}

static void finish_persistent_only_quickly(struct op_instance *operation)
{
    if (operation->form == OP_PERSISTENT)
        BC_MPI(MPI_Wait(operation->requests, MPI_STATUS_IGNORE));
    else
        rest(operation);
}

static void let_rank_0_work(struct op_instance *operation) { operation->works = rank == 0; }

/* On rank 0, whether CALLS calls were accepted; true on other ranks. Collective. */
static bool accepts(const struct op_kind *kind, int form)
{
    struct overlap_state overlap = {.parameters = {OVERLAP_DEFAULTS, .kind = kind, .form = form,
                                                   .test_calls = {0, CALLS},
                                                   .test_calls_count = 2}};
    struct bc_run run = {.job = {.rank = rank, .ranks = ranks}};
    struct bc_error error = {""};
    const bool good = overlap_check_cuts(&overlap, &run, 1, NULL, 0, NULL, &error);
    return rank != 0 || good;
}

TEST(ranks_that_work)
{
    const struct op_kind quick = {
        .name = "quick",
        .no_elements = true,
        .functions = {.start = do_nothing},
        .finish = do_nothing,
        .serve = rest,
        .place = let_rank_0_work,
    };
    struct op_kind slow = quick;
    slow.finish = rest;
    slow.serve = do_nothing;
    const bool accepts_quick = accepts(&quick, OP_NONBLOCKING);
    const bool accepts_slow = accepts(&slow, OP_NONBLOCKING);
    assert_true(accepts_quick == (rank != 0));
    assert_true(accepts_slow);
}

TEST(forms)
{
    const struct op_kind kind = {
        .name = "kind",
        .no_elements = true,
        .functions = {.start = do_nothing, .persist = persist, .blocking = do_nothing},
        .finish = finish_persistent_only_quickly,
    };
    bool accepted[OP_FORMS + 1];
    for (int form = 0; form <= OP_FORMS; form++)
        accepted[form] = accepts(&kind, form);
    assert_true(accepted[OP_NONBLOCKING]);
    assert_true(accepted[OP_PERSISTENT] == (rank != 0));
    /* The quickest of all forms. */
    assert_true(accepted[OP_FORMS] == (rank != 0));
}

const struct test_program test_program = {.mpi = true};
