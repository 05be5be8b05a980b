/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model's rules (plan.h, messages.c, windows.c, collectives.c), each alone: who is first,
 * when operations complete, to the nanosecond, and what data arrives. Run by model_test.py on 2 and
 * more ranks; prints a line for each case on rank 0, and each number that isn't as expected.
 */
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/world.h"

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { RANKS_MAX = 64, L = 5000, O = 200, W = 100, B = 1000, Y = 600, D = 10000, TEST = 50 };

static int rank, ranks, wrong;
static int64_t base_ns; /* when the case began, on all ranks */

static void expect(const char *what, int64_t found, int64_t right)
{
    if (found == right)
        return;
    wrong++;
    (void)printf("rank %d: %s: %lld, not %lld\n", rank, what, (long long)found, (long long)right);
}

static int64_t now(void) { return world_now_ns - base_ns; }

static void be_at(int64_t ns) { clock_until(base_ns + ns); }

/* ---- who is first ---------------------------------------------------------------------------- */

/* Ranks ask at ask_ns(rank); `order` has them as they should get what they ask for. */
static int64_t falling(int of) { return 1000 * (int64_t)(ranks - of); }
static int64_t together(int of) { return of >= 0 ? 1000 : 0; }

static void lock_in_order(MPI_Win window, int64_t (*ask_ns)(int), bool by_rank)
{
    const int before = by_rank ? rank : ranks - 1 - rank;
    const int first = by_rank ? 0 : ranks - 1;
    be_at(ask_ns(rank));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    /* Each earlier rank holds the lock for 3000 ns plus two synchronisations. */
    expect("lock", now(), ask_ns(first) + (int64_t)before * (3000 + 2 * Y) + Y);
    clock_spend(3000);
    MPI_Win_unlock(0, window);
}

static void locks(void)
{
    MPI_Win window;
    double *memory;
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&memory, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    base_ns = world_now_ns;
    lock_in_order(window, falling, false);
    MPI_Barrier(MPI_COMM_WORLD);
    base_ns = world_now_ns;
    lock_in_order(window, together, true);
    MPI_Win_free(&window);
}

/* All others send to one rank, which receives late, from any source. */
static void receive_in_order(int to, int64_t (*send_ns)(int), bool by_rank)
{
    int place = by_rank ? 0 : ranks - 1, from;
    if (rank != to) {
        be_at(send_ns(rank));
        MPI_Send(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        return;
    }
    be_at(100000);
    for (int i = 0; i < ranks - 1; i++, place += by_rank ? 1 : -1) {
        place += place != to ? 0 : by_rank ? 1 : -1;
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("any source", from, place);
    }
}

static void any_source(void)
{
    for (int to = 0; to < ranks; to++) {
        receive_in_order(to, falling, false);
        MPI_Barrier(MPI_COMM_WORLD);
        base_ns = world_now_ns;
        receive_in_order(to, together, true);
        MPI_Barrier(MPI_COMM_WORLD);
        base_ns = world_now_ns;
    }
}

static void waitany(void)
{
    MPI_Request requests[RANKS_MAX];
    int index;
    if (rank > 0) {
        be_at(falling(rank));
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        return;
    }
    for (int from = 1; from < ranks; from++)
        MPI_Irecv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests[from - 1]);
    for (int left = ranks - 1; left > 0; left--) {
        MPI_Waitany(ranks - 1, requests, &index, MPI_STATUS_IGNORE);
        expect("waitany", index, left - 1);
        expect("waitany's time", now(), falling(left) + L + W);
    }
}

/* ---- when operations complete ---------------------------------------------------------------- */

static void gaps(void)
{
    MPI_Request requests[3];
    parameters.gap_ns = 1500;
    for (int i = 0; i < 3; i++)
        if (rank == 0)
            MPI_Isend(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
        else if (rank == 1)
            MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 3 && rank < 2; i++) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        expect("a gap", now(), i * 1500 + L + W);
    }
    parameters.gap_ns = 0;
}

static void synchronous(void)
{
    be_at(rank == 1 ? 7000 : 0);
    if (rank == 0)
        MPI_Ssend(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        expect("ssend", now(), 7000 + L + W);
    else if (rank == 1) /* it had been sent before */
        expect("its receive", now(), 7000 + O + W);
}

/* Four stages, of which each but the first needs a test that decides after the one before. */
static void stages(void)
{
    static const struct {
        int64_t at_ns;
    } tests[] = {{3000}, {4000}, {6000}, {9000}};
    MPI_Request request = MPI_REQUEST_NULL;
    int flag;
    parameters.progress_share = 0.25;
    MPI_Iallreduce(MPI_IN_PLACE, &(int){1}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    expect("a post", now(), O);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        be_at(tests[i].at_ns);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        expect("a test's time", now(), tests[i].at_ns + TEST);
        expect("a test", flag, 0);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("stages", now(), 9000 + TEST + D / 4 + W);
    MPI_Barrier(MPI_COMM_WORLD);
    base_ns = world_now_ns;
    MPI_Iallreduce(MPI_IN_PLACE, &(int){1}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    be_at(3000);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("a wait without gaps", now(), 3000 + TEST + 3 * D / 4 + W);
    parameters.progress_share = 1;
}

static void collectives(void)
{
    be_at((int64_t)rank * 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    expect("a barrier", now(), (ranks - 1) * 1000 + B + W);
    MPI_Bcast(&(int){0}, 1, MPI_INT, 0, MPI_COMM_SELF);
    expect("of one rank", now(), (ranks - 1) * 1000 + 2 * (B + W));
    base_ns = world_now_ns;
    be_at((int64_t)(ranks - rank) * 1000);
    MPI_Scan(&rank, &(int){0}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("a scan waits for those before", now(), ranks * 1000 + B + W);
}

static void epochs(void)
{
    const int partner = rank ^ 1;
    MPI_Win window;
    MPI_Group all, other;
    double *memory, value = rank;
    MPI_Win_allocate(sizeof *memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&memory, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    base_ns = world_now_ns;
    be_at((int64_t)rank * 1000);
    MPI_Win_fence(0, window);
    expect("a fence", now(), (ranks - 1) * 1000 + Y);
    MPI_Put(&value, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    expect("a fence with a put", now(), (ranks - 1) * 1000 + Y + L + Y);
    expect("what was put", (int64_t)*memory, (rank + ranks - 1) % ranks);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &partner, &other);
    base_ns = world_now_ns;
    if (rank == 0) {
        be_at(20000);
        MPI_Win_post(other, 0, window);
        MPI_Win_wait(window);
        expect("a target's epoch", now(), 20000 + Y + Y);
        expect("what the origin put", (int64_t)*memory, 1);
    } else if (rank == 1) {
        MPI_Win_start(other, 0, window);
        MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
        MPI_Win_complete(window);
        expect("an origin's epoch", now(), 20000 + Y);
    }
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
}

/* ---- data ------------------------------------------------------------------------------------ */

static void reductions(void)
{
    const int last = ranks - 1, sum = ranks * last / 2;
    struct {
        double value;
        int index;
    } mine = {rank == last / 2 ? 9.0 : 1.0, rank}, found;
    int value = rank, before = -1, counts[RANKS_MAX], each[RANKS_MAX];
    MPI_Allreduce(&mine, &found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    expect("maxloc", found.index, last / 2);
    MPI_Allreduce(&mine, &found, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    expect("minloc, the first of several", found.index, last / 2 == 0 ? 1 : 0);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("a sum in place", value, sum);
    value = rank;
    MPI_Reduce(rank == last ? MPI_IN_PLACE : &value, &value, 1, MPI_INT, MPI_MAX, last,
               MPI_COMM_WORLD);
    expect("a maximum in place", value, rank);
    value = 0;
    MPI_Scan(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("a scan", value, rank * (rank + 1) / 2);
    MPI_Exscan(&rank, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("an exscan", before, rank == 0 ? -1 : rank * (rank - 1) / 2);
    for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        each[i] = 100 * i + rank;
    }
    MPI_Reduce_scatter(each, &value, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("a reduce_scatter", value, 100 * rank * ranks + sum);
}

static void exchanges(void)
{
    int sent[RANKS_MAX], received[2 * RANKS_MAX], ones[RANKS_MAX], places[RANKS_MAX],
        twice[RANKS_MAX];
    MPI_Datatype ints[RANKS_MAX], bytes[RANKS_MAX];
    for (int i = 0; i < ranks; i++) {
        sent[i] = 100 * rank + i;
        ones[i] = 1;
        places[i] = i * (int)sizeof(int);
        twice[i] = 2 * i * (int)sizeof(int);
        ints[i] = MPI_INT;
        MPI_Type_contiguous(sizeof(int), MPI_BYTE, &bytes[i]);
        MPI_Type_commit(&bytes[i]);
    }
    memset(received, -1, sizeof received);
    MPI_Alltoallw(sent, ones, places, ints, received, ones, twice, bytes, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        expect("alltoallw", received[(ptrdiff_t)2 * i], 100 * i + rank);
        expect("alltoallw's gaps", received[2 * i + 1], -1);
        MPI_Type_free(&bytes[i]);
    }
    received[rank] = rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        expect("allgather in place", received[i], i);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sent, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        expect("alltoall in place", sent[i], 100 * i + rank);
}

static void one_sided(void)
{
    MPI_Win window;
    int64_t *memory, before = -1, one = 1, got = -1;
    MPI_Win_allocate(2 * sizeof *memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&memory,
                     &window);
    memory[0] = memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    base_ns = world_now_ns;
    be_at((int64_t)20000 * (rank + 1));
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    expect("fetch_and_op", before, rank);
    MPI_Compare_and_swap(&(int64_t){rank + 1}, &(int64_t){rank}, &before, MPI_INT64_T, 0, 1,
                         window);
    MPI_Win_flush(0, window);
    expect("compare_and_swap", before, rank);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, window);
    MPI_Get(&got, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, window);
    MPI_Win_fence(0, window);
    expect("get", got, ranks);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, window);
    MPI_Win_fence(0, window);
    expect("accumulate", memory[0], rank == 0 ? 2 * ranks : 0);
    MPI_Win_free(&window);
}

static void probes(void)
{
    int flag = -1, count;
    MPI_Status status;
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    be_at(L - TEST - 1);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    expect("a probe before", flag, 0);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect("a probe's time", now(), L - 1 + TEST);
    expect("a probe", 100 * status.MPI_SOURCE + 10 * status.MPI_TAG + count, 171);
    MPI_Recv(&count, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"locks", locks},
        {"any source", any_source},
        {"waitany", waitany},
        {"gaps", gaps},
        {"synchronous", synchronous},
        {"stages", stages},
        {"collectives", collectives},
        {"epochs", epochs},
        {"reductions", reductions},
        {"exchanges", exchanges},
        {"one-sided", one_sided},
        {"probes", probes},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        base_ns = world_now_ns;
        cases[i].run();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            (void)printf("%s ends at %lld ns\n", cases[i].name, (long long)world_now_ns);
    }
    (void)fflush(stdout);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong > 0;
}
