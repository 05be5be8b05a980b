#include "common/sync_clock/pairs.h"

#include "common/clock/source.h"
#include "common/mpi/mpi_check.h"

#include <sched.h>

/* ---- trees ----------------------------------------------------------------------------------- */

static struct bc_pair_tree tree_of(MPI_Comm comm)
{
    struct bc_pair_tree tree = {.comm = comm};
    if (comm != MPI_COMM_NULL) {
        BC_MPI(MPI_Comm_rank(comm, &tree.rank));
        BC_MPI(MPI_Comm_size(comm, &tree.size));
    }
    return tree;
}

struct bc_pair_trees bc_pair_trees_make(MPI_Comm comm, MPI_Comm node)
{
    int rank;
    MPI_Comm leaders;
    struct bc_pair_trees trees = {.node = tree_of(node)};
    BC_MPI(MPI_Comm_rank(comm, &rank));
    BC_MPI(MPI_Comm_split(comm, trees.node.rank == 0 ? 0 : MPI_UNDEFINED, rank, &leaders));
    trees.leaders = tree_of(leaders);
    return trees;
}

void bc_pair_trees_free(struct bc_pair_trees *trees)
{
    if (trees->leaders.comm != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&trees->leaders.comm));
    BC_MPI(MPI_Comm_free(&trees->node.comm));
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Of all messages: between two ranks they come in a known order. */
enum { TAG = 0 };

void bc_pair_wait(const struct bc_pair_reader *reader, MPI_Request *request)
{
    int done = 0;
    if (reader->looks == 0) {
        BC_MPI(PMPI_Wait(request, MPI_STATUS_IGNORE));
        return;
    }
    for (int looks = 0; !done; looks++) {
        if (looks > reader->looks)
            (void)sched_yield();
        BC_MPI(PMPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

void bc_pair_send(const struct bc_pair_tree *tree, const void *data, size_t bytes, int peer)
{
    BC_MPI(PMPI_Send(data, (int)bytes, MPI_BYTE, peer, TAG, tree->comm));
}

static void post(const struct bc_pair_tree *tree, void *data, size_t bytes, int peer,
                 MPI_Request *request)
{
    BC_MPI(PMPI_Irecv(data, (int)bytes, MPI_BYTE, peer, TAG, tree->comm, request));
}

void bc_pair_receive(const struct bc_pair_reader *reader, const struct bc_pair_tree *tree,
                     void *data, size_t bytes, int peer)
{
    MPI_Request request;
    post(tree, data, bytes, peer, &request);
    bc_pair_wait(reader, &request);
}

/* ---- round trips ----------------------------------------------------------------------------- */

struct stamp {
    int64_t sent_ns;
    int64_t more; /* 0: the last message of the rank that began */
};

static void send_stamp(const struct bc_pair_reader *reader, const struct bc_pair_tree *tree,
                       bool more, int peer)
{
    const struct stamp stamp = {.more = more, .sent_ns = reader->now_ns()};
    bc_pair_send(tree, &stamp, sizeof stamp, peer);
}

static double elapsed_s(void) { return (double)bc_source_monotonic_ns() * 1e-9; }

size_t bc_pair_round_trips(const struct bc_pair_reader *reader, const struct bc_pair_tree *tree,
                           int peer, bool begins, const struct bc_pair_run *run,
                           struct bc_timestamps timestamps[])
{
    const double end_s = elapsed_s() + run->seconds;
    struct stamp came;
    MPI_Request request;
    bool more = true;
    post(tree, &came, sizeof came, peer, &request);
    if (begins)
        send_stamp(reader, tree, more, peer);
    for (size_t count = 0;;) {
        bc_pair_wait(reader, &request);
        const int64_t arrived_ns = reader->now_ns();
        timestamps[count++] = (struct bc_timestamps){came.sent_ns, arrived_ns};
        if (begins && !more)
            return count;
        if (begins)
            more = count < run->max - 1 && (count < run->min || elapsed_s() < end_s);
        else
            more = came.more != 0;
        if (begins || more)
            post(tree, &came, sizeof came, peer, &request);
        send_stamp(reader, tree, more, peer);
        if (!begins && !more)
            return count;
    }
}

/* ---- what is known --------------------------------------------------------------------------- */

void bc_pair_hand_down(const struct bc_pair_reader *reader, const struct bc_pair_tree *tree,
                       struct bc_known_clock *known)
{
    struct bc_known_clock above;
    for (int step = 1; step < tree->size; step *= 2) {
        if (tree->rank < bc_pair_count(tree->size, step)) {
            bc_pair_send(tree, known, sizeof *known, tree->rank + step);
        } else if (tree->rank >= step && tree->rank < 2 * step) {
            bc_pair_receive(reader, tree, &above, sizeof above, tree->rank - step);
            known->model = bc_clock_model_chain(&above.model, &known->model);
            known->error_ns[0] += above.error_ns[0];
            known->error_ns[1] += above.error_ns[1];
            known->growth += above.growth;
        }
    }
}
