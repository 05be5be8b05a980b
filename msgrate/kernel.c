/* SPDX-License-Identifier: BSD-3-Clause */
/* The timed regions of msgrate: four message patterns with two-sided communication, as specified by
   the Sandia message rate benchmark (SMB). */
#include "common/clock/clock.h"
#include "common/device/buffer.h"
#include "common/mpi/mpi_check.h"
#include "msgrate/exchange.h"

enum { TAG = 1 };

/* Posts are inlined, so that only MPI calls are made between them. */
#define INLINED __attribute__((always_inline)) static inline

/* ---- posts ----------------------------------------------------------------------------------- */

/* Posts all sends to peer i. Returns the address after the last request. */
INLINED MPI_Request *post_sends(const struct msgrate_exchange *x, int i, MPI_Request *request)
{
    const int peer = x->messages.sends[i];
    const unsigned char *block = msgrate_block(&x->messages, x->send.start, i);
    for (int m = 0; m < x->messages.count; m++, block += x->messages.bytes)
        BC_MPI(MPI_Isend(block, x->messages.amount.count, x->messages.amount.type, peer, TAG,
                         MPI_COMM_WORLD, request++));
    return request;
}

/* Posts all receives from peer i. Returns the address after the last request. */
INLINED MPI_Request *post_receives(const struct msgrate_exchange *x, const struct bc_buffer *buffer,
                                   int i, MPI_Request *request)
{
    const int peer = x->messages.receives[i];
    unsigned char *block = msgrate_block(&x->messages, buffer->start, i);
    for (int m = 0; m < x->messages.count; m++, block += x->messages.bytes)
        BC_MPI(MPI_Irecv(block, x->messages.amount.count, x->messages.amount.type, peer, TAG,
                         MPI_COMM_WORLD, request++));
    return request;
}

/* Posts the receives from peer number `from` and the sends to peer number `to`. */
INLINED MPI_Request *post_both(struct msgrate_exchange *x, int from, int to, MPI_Request *request)
{
    request = post_receives(x, msgrate_arriving(x, 0), from, request);
    return post_sends(x, to, request);
}

INLINED void wait_all(const struct msgrate_exchange *x, const MPI_Request *end)
{
    BC_MPI(MPI_Waitall((int)(end - x->requests), x->requests, x->statuses));
}

/* ---- the patterns' exchanges ----------------------------------------------------------------- */

static void exchange_single(struct msgrate_exchange *x)
{
    if (x->bench->lower)
        wait_all(x, post_sends(x, 0, x->requests));
    else
        wait_all(x, post_receives(x, msgrate_arriving(x, 0), 0, x->requests));
}

/* In each step a rank receives from one side and sends to the other, at the same distance. In the
   specification it does both with peer i: with two or more peers every rank would then wait for
   messages that its peer sends only after those for which the peer itself waits. */
static void exchange_pair_based(struct msgrate_exchange *x)
{
    const int n = x->messages.npeers;
    for (int i = 0; i < n; i++)
        wait_all(x, post_both(x, i, n - 1 - i, x->requests));
}

INLINED void post_all_receives(const struct msgrate_exchange *x, const struct bc_buffer *buffer)
{
    MPI_Request *request = x->requests;
    for (int i = 0; i < x->messages.npeers; i++)
        request = post_receives(x, buffer, i, request);
}

/* Sends to all peers, then waits for these sends and for the requests of post_all_receives. */
INLINED void send_and_wait(const struct msgrate_exchange *x)
{
    MPI_Request *request = x->requests + (size_t)x->messages.npeers * (size_t)x->messages.count;
    for (int i = 0; i < x->messages.npeers; i++)
        request = post_sends(x, i, request);
    wait_all(x, request);
}

static void exchange_pre_post(struct msgrate_exchange *x)
{
    send_and_wait(x);
    post_all_receives(x, msgrate_arriving(x, 1));
}

static void begin_pre_post(struct msgrate_exchange *x)
{
    post_all_receives(x, msgrate_arriving(x, 0));
}

static void end_pre_post(struct msgrate_exchange *x) { send_and_wait(x); }

static void exchange_all_start(struct msgrate_exchange *x)
{
    MPI_Request *request = x->requests;
    for (int i = 0; i < x->messages.npeers; i++)
        request = post_both(x, i, i, request);
    wait_all(x, request);
}

/* ---- the timed kernels and the patterns ------------------------------------------------------ */

/* The pattern is read before the timed region: the flush removed it from the caches. */

struct bc_span msgrate_time(struct msgrate_exchange *x)
{
    msgrate_exchange_fn *const exchange = x->pattern->exchange;
    const int64_t start_ns = bc_now_ns();
    exchange(x);
    return (struct bc_span){start_ns, bc_now_ns()};
}

/* Makes one copy of all data to be sent, and one of all data received. */
struct bc_span msgrate_time_staged(struct msgrate_exchange *x)
{
    msgrate_exchange_fn *const exchange = x->pattern->exchange;
    const struct bc_buffer *const from = msgrate_sends(x) ? msgrate_copied_from(x) : NULL;
    const struct bc_buffer *const to = msgrate_receives(x) ? msgrate_copied_to(x) : NULL;
    struct bc_buffer *const arriving = msgrate_arriving(x, 0);
    const size_t bytes = msgrate_buffer_bytes(&x->messages);
    const int64_t start_ns = bc_now_ns();
    if (from != NULL)
        bc_buffer_copy(&x->send, from, bytes);
    exchange(x);
    if (to != NULL)
        bc_buffer_copy(to, arriving, bytes);
    return (struct bc_span){start_ns, bc_now_ns()};
}

const struct msgrate_pattern msgrate_patterns[MSGRATE_PATTERNS] = {
    {"single direction", .one_partner = true, .exchange = exchange_single},
    {"pair-based", .exchange = exchange_pair_based},
    {"pre-post", .exchange = exchange_pre_post, .begin = begin_pre_post, .end = end_pre_post},
    {"all-start", .exchange = exchange_all_start},
};
