#include "msgrate/kernel.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

enum { TAG = 1 };

/* ---- posts ----------------------------------------------------------------------------------- */

/* Posts all sends of a block to a peer; returns the place after the last request. */
static MPI_Request *post_sends(const struct msgrate_exchange *x, const unsigned char *block,
                               int peer, MPI_Request *request)
{
    for (int m = 0; m < x->messages.count; m++, block += x->messages.bytes)
        BC_MPI(MPI_Isend(block, x->messages.amount.count, x->messages.amount.type, peer, TAG,
                         MPI_COMM_WORLD, request++));
    return request;
}

/* The same for receives. */
static MPI_Request *post_receives(const struct msgrate_exchange *x, unsigned char *block, int peer,
                                  MPI_Request *request)
{
    for (int m = 0; m < x->messages.count; m++, block += x->messages.bytes)
        BC_MPI(MPI_Irecv(block, x->messages.amount.count, x->messages.amount.type, peer, TAG,
                         MPI_COMM_WORLD, request++));
    return request;
}

static void wait_all(const struct msgrate_exchange *x, const MPI_Request *end)
{
    BC_MPI(MPI_Waitall((int)(end - x->requests), x->requests, x->statuses));
}

/* ---- the timed kernels ----------------------------------------------------------------------- */

static int64_t time_single_sends(const struct msgrate_exchange *x)
{
    const int64_t start_ns = bc_now_ns();
    wait_all(x, post_sends(x, x->send_buffer, x->bench->partner, x->requests));
    return bc_now_ns() - start_ns;
}

static int64_t time_single_receives(const struct msgrate_exchange *x)
{
    const int64_t start_ns = bc_now_ns();
    wait_all(x, post_receives(x, msgrate_arriving(x), x->bench->partner, x->requests));
    return bc_now_ns() - start_ns;
}

/* In each step, receives come from a rank as far away on one side as sends go on the other. The
   specification has both from and to peer i: with two peers or more, every rank would then wait
   for messages that its peer sends only after the messages that the peer itself waits for. */
static int64_t time_pair_based(const struct msgrate_exchange *x)
{
    const struct msgrate_bench *const bench = x->bench;
    const int n = bench->npeers;
    const int64_t start_ns = bc_now_ns();
    for (int i = 0; i < n; i++) {
        const int j = n - 1 - i;
        MPI_Request *request = x->requests;
        request = post_receives(x, msgrate_block(&x->messages, msgrate_arriving(x), i),
                                bench->receives[i], request);
        request =
            post_sends(x, msgrate_block(&x->messages, x->send_buffer, j), bench->sends[j], request);
        wait_all(x, request);
    }
    return bc_now_ns() - start_ns;
}

static MPI_Request *post_all_sends(const struct msgrate_exchange *x, MPI_Request *request)
{
    for (int i = 0; i < x->bench->npeers; i++)
        request = post_sends(x, msgrate_block(&x->messages, x->send_buffer, i), x->bench->sends[i],
                             request);
    return request;
}

static MPI_Request *post_all_receives(const struct msgrate_exchange *x, unsigned char *buffer,
                                      MPI_Request *request)
{
    for (int i = 0; i < x->bench->npeers; i++)
        request = post_receives(x, msgrate_block(&x->messages, buffer, i), x->bench->receives[i],
                                request);
    return request;
}

/* The first half of the requests is for receives. */
static MPI_Request *after_receives(const struct msgrate_exchange *x)
{
    return x->requests + (size_t)x->bench->npeers * (size_t)x->messages.count;
}

static int64_t time_pre_post(const struct msgrate_exchange *x)
{
    unsigned char *const ahead = x->receive_buffers[(x->iteration + 1) % 2];
    const int64_t start_ns = bc_now_ns();
    wait_all(x, post_all_sends(x, after_receives(x)));
    post_all_receives(x, ahead, x->requests);
    return bc_now_ns() - start_ns;
}

static void begin_pre_post(const struct msgrate_exchange *x)
{
    post_all_receives(x, msgrate_arriving(x), x->requests);
}

static void end_pre_post(const struct msgrate_exchange *x)
{
    wait_all(x, post_all_sends(x, after_receives(x)));
}

static int64_t time_all_start(const struct msgrate_exchange *x)
{
    const struct msgrate_bench *const bench = x->bench;
    const int64_t start_ns = bc_now_ns();
    MPI_Request *request = x->requests;
    for (int i = 0; i < bench->npeers; i++) {
        request = post_receives(x, msgrate_block(&x->messages, msgrate_arriving(x), i),
                                bench->receives[i], request);
        request =
            post_sends(x, msgrate_block(&x->messages, x->send_buffer, i), bench->sends[i], request);
    }
    wait_all(x, request);
    return bc_now_ns() - start_ns;
}

const struct msgrate_pattern msgrate_patterns[MSGRATE_PATTERNS] = {
    {.name = "single direction",
     .one_partner = true,
     .time_lower = time_single_sends,
     .time_upper = time_single_receives},
    {.name = "pair-based", .time_lower = time_pair_based, .time_upper = time_pair_based},
    {.name = "pre-post",
     .time_lower = time_pre_post,
     .time_upper = time_pre_post,
     .begin = begin_pre_post,
     .end = end_pre_post},
    {.name = "all-start", .time_lower = time_all_start, .time_upper = time_all_start},
};
