/* The timed regions of msgrate: four message patterns with two-sided communication, as specified by
   the Sandia message rate benchmark (SMB). */
#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "msgrate/exchange.h"

enum { TAG = 1 };

/* ---- posts ----------------------------------------------------------------------------------- */

/* Posts all sends to peer i; returns the place after the last request. */
static MPI_Request *post_sends(const struct msgrate_exchange *x, int i, MPI_Request *request)
{
    const int peer = x->messages.sends[i];
    const unsigned char *block = msgrate_block(&x->messages, x->send_buffer, i);
    for (int m = 0; m < x->messages.count; m++, block += x->messages.bytes)
        BC_MPI(MPI_Isend(block, x->messages.amount.count, x->messages.amount.type, peer, TAG,
                         MPI_COMM_WORLD, request++));
    return request;
}

/* The same for receives, in one of the receive buffers. */
static MPI_Request *post_receives(const struct msgrate_exchange *x, unsigned char *buffer, int i,
                                  MPI_Request *request)
{
    const int peer = x->messages.receives[i];
    unsigned char *block = msgrate_block(&x->messages, buffer, i);
    for (int m = 0; m < x->messages.count; m++, block += x->messages.bytes)
        BC_MPI(MPI_Irecv(block, x->messages.amount.count, x->messages.amount.type, peer, TAG,
                         MPI_COMM_WORLD, request++));
    return request;
}

/* Posts the receives from one peer and the sends to another one, by their numbers in the lists. */
static MPI_Request *post_both(const struct msgrate_exchange *x, int from, int to,
                              MPI_Request *request)
{
    request = post_receives(x, msgrate_arriving(x), from, request);
    return post_sends(x, to, request);
}

static void wait_all(const struct msgrate_exchange *x, const MPI_Request *end)
{
    BC_MPI(MPI_Waitall((int)(end - x->requests), x->requests, x->statuses));
}

/* ---- the timed kernels ----------------------------------------------------------------------- */

static int64_t time_single_sends(const struct msgrate_exchange *x)
{
    const int64_t start_ns = bc_now_ns();
    wait_all(x, post_sends(x, 0, x->requests));
    return bc_now_ns() - start_ns;
}

static int64_t time_single_receives(const struct msgrate_exchange *x)
{
    const int64_t start_ns = bc_now_ns();
    wait_all(x, post_receives(x, msgrate_arriving(x), 0, x->requests));
    return bc_now_ns() - start_ns;
}

static int64_t time_single(const struct msgrate_exchange *x)
{
    return x->bench->lower ? time_single_sends(x) : time_single_receives(x);
}

/* In each step, receives come from a rank as far away on one side as sends go on the other. The
   specification has both from and to peer i: with two peers or more, every rank would then wait
   for messages that its peer sends only after the messages that the peer itself waits for. */
static int64_t time_pair_based(const struct msgrate_exchange *x)
{
    const int n = x->messages.npeers;
    const int64_t start_ns = bc_now_ns();
    for (int i = 0; i < n; i++)
        wait_all(x, post_both(x, i, n - 1 - i, x->requests));
    return bc_now_ns() - start_ns;
}

static void post_all_receives(const struct msgrate_exchange *x, unsigned char *buffer)
{
    MPI_Request *request = x->requests;
    for (int i = 0; i < x->messages.npeers; i++)
        request = post_receives(x, buffer, i, request);
}

/* Sends to all peers, then waits for that and for what post_all_receives posted. */
static void finish_pre_post(const struct msgrate_exchange *x)
{
    MPI_Request *request = x->requests + (size_t)x->messages.npeers * (size_t)x->messages.count;
    for (int i = 0; i < x->messages.npeers; i++)
        request = post_sends(x, i, request);
    wait_all(x, request);
}

static int64_t time_pre_post(const struct msgrate_exchange *x)
{
    unsigned char *const ahead = x->receive_buffers[(x->iteration + 1) % 2];
    const int64_t start_ns = bc_now_ns();
    finish_pre_post(x);
    post_all_receives(x, ahead);
    return bc_now_ns() - start_ns;
}

static void begin_pre_post(const struct msgrate_exchange *x)
{
    post_all_receives(x, msgrate_arriving(x));
}

static int64_t time_all_start(const struct msgrate_exchange *x)
{
    const int64_t start_ns = bc_now_ns();
    MPI_Request *request = x->requests;
    for (int i = 0; i < x->messages.npeers; i++)
        request = post_both(x, i, i, request);
    wait_all(x, request);
    return bc_now_ns() - start_ns;
}

const struct msgrate_pattern msgrate_patterns[MSGRATE_PATTERNS] = {
    {"single direction", .one_partner = true, .time = time_single},
    {"pair-based", .time = time_pair_based},
    {"pre-post", .time = time_pre_post, .begin = begin_pre_post, .end = finish_pre_post},
    {"all-start", .time = time_all_start},
};
