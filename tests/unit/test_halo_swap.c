/*
 * Swaps of halos in two parts, and by blocking calls: do the six faces have the neighbours' values,
 * in every grid of these ranks, whatever requests the caller tests between start and finish? And
 * which functions of MPI does a method call?
 */
#include "ranks.h"

#include "common/mpi/mpi_check.h"
#include "halo/swap/methods.h"

#include <stdio.h>
#include <string.h>

/* Of the last box most faces are large enough for the protocol of large messages. */
static const struct halo_box boxes[] = {{{4, 3, 2}}, {{5, 1, 1}}, {{1, 1, 1}}, {{2, 110, 120}}};

enum { SWAPS = 3, SWAPS_OF_MANY = 1 };

/* With more ranks than processors each wait costs a turn of the scheduler's or several in an MPI
   library that polls, so there ranks swap once in each way and sleep between tests. */
static const double pause_s = 20e-6;

/* ---- calls of MPI ---------------------------------------------------------------------------- */

static struct calls {
    int sendrecv, neighbor, ineighbor;
} calls;

int MPI_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag,
                 void *received, int received_count, MPI_Datatype received_type, int from,
                 int received_tag, MPI_Comm comm, MPI_Status *status)
{
    calls.sendrecv++;
    return PMPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, received, received_count,
                         received_type, from, received_tag, comm, status);
}

int MPI_Neighbor_alltoallw(const void *sent, const int sent_counts[], const MPI_Aint sent_at[],
                           const MPI_Datatype sent_types[], void *received,
                           const int received_counts[], const MPI_Aint received_at[],
                           const MPI_Datatype received_types[], MPI_Comm comm)
{
    calls.neighbor++;
    return PMPI_Neighbor_alltoallw(sent, sent_counts, sent_at, sent_types, received,
                                   received_counts, received_at, received_types, comm);
}

int MPI_Ineighbor_alltoallw(const void *sent, const int sent_counts[], const MPI_Aint sent_at[],
                            const MPI_Datatype sent_types[], void *received,
                            const int received_counts[], const MPI_Aint received_at[],
                            const MPI_Datatype received_types[], MPI_Comm comm,
                            MPI_Request *request)
{
    calls.ineighbor++;
    return PMPI_Ineighbor_alltoallw(sent, sent_counts, sent_at, sent_types, received,
                                    received_counts, received_at, received_types, comm, request);
}

/* ---- ways to do one swap --------------------------------------------------------------------- */

static void test_until_done(MPI_Request *request)
{
    int done;
    BC_MPI(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    while (!done) {
        sleep_s(pause_s);
        BC_MPI(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

/* Tests every `step`-th request from `first` on. */
static void swap_in_steps(const struct halo_method *method, const struct halo_exchange *x,
                          int first, int step)
{
    method->start(x);
    for (int i = first; i < x->request_count; i += step)
        test_until_done(&x->requests[i]);
    method->finish(x);
}

static void swap_at_once(const struct halo_method *method, const struct halo_exchange *x)
{
    method->swap(x);
}

static void swap_blocking(const struct halo_method *method, const struct halo_exchange *x)
{
    method->blocking(x);
}

static void swap_without_tests(const struct halo_method *method, const struct halo_exchange *x)
{
    method->start(x);
    method->finish(x);
}

static void swap_all_tested(const struct halo_method *method, const struct halo_exchange *x)
{
    MPI_Status statuses[2 * HALO_FACES];
    int done;
    method->start(x);
    BC_MPI(MPI_Testall(x->request_count, x->requests, &done, statuses));
    while (!done) {
        sleep_s(pause_s);
        BC_MPI(MPI_Testall(x->request_count, x->requests, &done, statuses));
    }
    method->finish(x);
}

static void swap_each_tested(const struct halo_method *method, const struct halo_exchange *x)
{
    swap_in_steps(method, x, 0, 1);
}

static void swap_even_tested(const struct halo_method *method, const struct halo_exchange *x)
{
    swap_in_steps(method, x, 0, 2);
}

static void swap_last_tested(const struct halo_method *method, const struct halo_exchange *x)
{
    swap_in_steps(method, x, x->request_count - 1, 1);
}

/* Ranks don't agree on how they swap. */
static void swap_mixed(const struct halo_method *method, const struct halo_exchange *x)
{
    if (rank % 2 == 0)
        method->blocking(x);
    else
        swap_all_tested(method, x);
}

static const struct way {
    const char *name;
    void (*swap)(const struct halo_method *method, const struct halo_exchange *x);
    bool in_parts;      /* by start and finish */
    bool messages_only; /* MPI matches no blocking collective with a non-blocking one */
} ways[] = {
    {"at once", swap_at_once, .in_parts = false},
    {"blocking", swap_blocking, .in_parts = false},
    {"without tests", swap_without_tests, .in_parts = true},
    {"MPI_Testall", swap_all_tested, .in_parts = true},
    {"each tested", swap_each_tested, .in_parts = true},
    {"every other one tested", swap_even_tested, .in_parts = true},
    {"the last one tested", swap_last_tested, .in_parts = true},
    {"mixed", swap_mixed, .messages_only = true},
};

/* ---- right data ------------------------------------------------------------------------------ */

/* In how many directions both neighbours are the same rank, and in how many of these it shows in
   this box when the sides of the halo are mixed up. */
struct mirrored {
    int directions, shown;
};

static struct mirrored mirrored(const struct halo_box *box, const struct halo_grid *grid)
{
    struct mirrored found = {0, 0};
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        if (grid->dims[d] <= 2) {
            found.directions++;
            found.shown += box->extent[d] > 1;
        }
    return found;
}

/* Whether it is true on all ranks; the answer is the same on all. Collective. */
static bool is_everywhere(bool here, MPI_Comm comm)
{
    int answer = here;
    MPI_Request request;
    BC_MPI(MPI_Iallreduce(MPI_IN_PLACE, &answer, 1, MPI_INT, MPI_MIN, comm, &request));
    test_until_done(&request);
    return answer;
}

enum outcome { RIGHT, WRONG, EITHER };

/* What the halo must be. Where the library brings faces to the wrong side it must not be right,
   unless the box doesn't show all directions: MPICH 5.1 does so where a rank is its own neighbour,
   but not between two ranks. */
static enum outcome expected(const struct halo_method *method, const struct way *way,
                             const struct halo_box *box, const struct halo_grid *grid,
                             MPI_Comm comm)
{
    const struct mirrored found = mirrored(box, grid);
    if (method->is_right == NULL || found.shown == 0)
        return RIGHT;
    if (way->in_parts ? method->is_right_in_parts(grid, comm) : method->is_right(grid, comm))
        return RIGHT;
    return found.shown == found.directions ? WRONG : EITHER;
}

static void complain(const struct halo_method *method, const struct way *way,
                     const struct halo_box *box, const struct halo_grid *grid, bool must_be_right)
{
    if (rank == 0)
        fprintf(stderr, "%s, %s: grid %dx%dx%d, box %dx%dx%d: %s\n", method->name, way->name,
                grid->dims[0], grid->dims[1], grid->dims[2], (int)box->extent[0],
                (int)box->extent[1], (int)box->extent[2],
                must_be_right ? "wrong data"
                              : "right, where the library brings faces to the wrong side");
}

/* Swaps by one method, in each way; returns the number of swaps that were not as expected, the same
   on all ranks, and prints these. Collective. */
static int swap_in_all_ways(const struct halo_method *method, const struct halo_box *box,
                            const struct halo_grid *grid, MPI_Comm comm, MPI_Comm node_comm)
{
    struct halo_exchange x;
    const int swaps = ranks > 2 ? SWAPS_OF_MANY : SWAPS;
    int wrong = 0;
    halo_exchange_init(&x, box, grid, comm, node_comm);
    method->create(&x);
    for (size_t w = 0; w < COUNT(ways); w++) {
        if (ways[w].messages_only && method->is_right != NULL)
            continue;
        const enum outcome outcome = expected(method, &ways[w], box, grid, comm);
        for (int swap = 0; swap < swaps; swap++) {
            halo_prepare(&x, swap);
            ways[w].swap(method, &x);
            const bool right = is_everywhere(halo_is_right(&x, swap), comm);
            if (outcome != EITHER && right != (outcome == RIGHT)) {
                wrong++;
                complain(method, &ways[w], box, grid, outcome == RIGHT);
            }
        }
    }
    method->destroy(&x);
    return wrong;
}

static int swap_in_grid(const int dims[HALO_DIRECTIONS], MPI_Comm node_comm)
{
    static const int periodic[HALO_DIRECTIONS] = {1, 1, 1};
    const struct halo_grid grid = halo_grid_of(dims, rank);
    MPI_Comm comm;
    int wrong = 0;
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, HALO_DIRECTIONS, dims, periodic, 0, &comm));
    for (int i = 0; i < HALO_METHODS; i++)
        for (size_t b = 0; b < COUNT(boxes) && !halo_methods[i]->missing; b++)
            if (halo_methods[i]->start != NULL)
                wrong += swap_in_all_ways(halo_methods[i], &boxes[b], &grid, comm, node_comm);
    BC_MPI(MPI_Comm_free(&comm));
    return wrong;
}

TEST(faces_are_swapped)
{
    int dims[HALO_DIRECTIONS], wrong = 0, grids = 0;
    MPI_Comm node_comm;
    BC_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_comm));
    for (dims[0] = 1; dims[0] <= ranks; dims[0]++)
        for (dims[1] = 1; dims[0] * dims[1] <= ranks; dims[1]++) {
            dims[2] = ranks / (dims[0] * dims[1]);
            if (dims[0] * dims[1] * dims[2] != ranks)
                continue;
            wrong += swap_in_grid(dims, node_comm);
            grids++;
        }
    BC_MPI(MPI_Comm_free(&node_comm));
    assert_true(grids > 0);
    assert_int_equal(wrong, 0);
}

/* ---- what a method has, and what it calls ---------------------------------------------------- */

TEST(methods_in_two_parts)
{
    static const char *const names[] = {"isend/irecv types", "isend/irecv packed", "persistent",
                                        "neighbor_alltoallw"};
    size_t found = 0;
    for (int i = 0; i < HALO_METHODS; i++) {
        const struct halo_method *const method = halo_methods[i];
        assert_true((method->start == NULL) == (method->finish == NULL));
        assert_true((method->start == NULL) == (method->blocking == NULL));
        assert_true((method->is_right == NULL) == (method->is_right_in_parts == NULL));
        if (method->start != NULL) {
            assert_true(found < COUNT(names));
            assert_true(found < HALO_METHODS_IN_PARTS);
            assert_ptr_equal(method, halo_methods_in_parts[found]);
            assert_string_equal(method->name, names[found++]);
        }
    }
    assert_int_equal(found, COUNT(names));
    assert_int_equal(found, HALO_METHODS_IN_PARTS);
}

/* The calls of one swap. */
static struct calls calls_of(const struct halo_exchange *x,
                             void (*swap)(const struct halo_exchange *exchange))
{
    calls = (struct calls){0};
    swap(x);
    return calls;
}

static void assert_calls(struct calls found, int sendrecv, int neighbor, int ineighbor)
{
    assert_int_equal(found.sendrecv, sendrecv);
    assert_int_equal(found.neighbor, neighbor);
    assert_int_equal(found.ineighbor, ineighbor);
}

TEST(functions_that_are_called)
{
    static const int periodic[HALO_DIRECTIONS] = {1, 1, 1};
    const int dims[HALO_DIRECTIONS] = {ranks, 1, 1};
    const struct halo_grid grid = halo_grid_of(dims, rank);
    struct calls at_once[HALO_METHODS], start[HALO_METHODS], finish[HALO_METHODS],
        blocking[HALO_METHODS];
    int requests[HALO_METHODS];
    MPI_Comm comm;
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, HALO_DIRECTIONS, dims, periodic, 0, &comm));
    for (int i = 0; i < HALO_METHODS; i++) {
        const struct halo_method *const method = halo_methods[i];
        struct halo_exchange x;
        if (method->start == NULL || method->missing)
            continue;
        halo_exchange_init(&x, &boxes[0], &grid, comm, MPI_COMM_NULL);
        method->create(&x);
        requests[i] = x.requests != NULL ? x.request_count : 0;
        at_once[i] = calls_of(&x, method->swap);
        start[i] = calls_of(&x, method->start);
        finish[i] = calls_of(&x, method->finish);
        blocking[i] = calls_of(&x, method->blocking);
        method->destroy(&x);
    }
    BC_MPI(MPI_Comm_free(&comm));
    for (int i = 0; i < HALO_METHODS; i++) {
        const struct halo_method *const method = halo_methods[i];
        const bool is_collective = method->is_right != NULL;
        if (method->start == NULL || method->missing)
            continue;
        assert_int_equal(requests[i], is_collective ? 1 : 2 * HALO_FACES);
        assert_calls(at_once[i], 0, is_collective, 0);
        assert_calls(start[i], 0, 0, is_collective);
        assert_calls(finish[i], 0, 0, 0);
        assert_calls(blocking[i], is_collective ? 0 : HALO_FACES, is_collective, 0);
    }
}

const struct test_program test_program = {.mpi = true};
