#include "msgrate/patterns.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1 };

/* ---- posts ----------------------------------------------------------------------------------- */

/* Posts all sends of a block to a peer; returns the request after the last. */
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

static unsigned char *arriving(const struct msgrate_exchange *x)
{
    return x->receive_buffers[x->iteration % 2];
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
    wait_all(x, post_receives(x, arriving(x), x->bench->partner, x->requests));
    return bc_now_ns() - start_ns;
}

/* Receives come from as far on one side as sends go to on the other. With both from
   and to peer i, as the specification has it, every rank would wait, with two peers and
   more, for what its peer sends only after it has got what it waits for itself. */
static int64_t time_pair_based(const struct msgrate_exchange *x)
{
    const struct msgrate_bench *const bench = x->bench;
    const int n = bench->npeers;
    const int64_t start_ns = bc_now_ns();
    for (int i = 0; i < n; i++) {
        const int j = n - 1 - i;
        MPI_Request *request = x->requests;
        request = post_receives(x, msgrate_block(&x->messages, arriving(x), i), bench->receives[i],
                                request);
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

/* Receives have the first half of the requests. */
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
    post_all_receives(x, arriving(x), x->requests);
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
        request = post_receives(x, msgrate_block(&x->messages, arriving(x), i), bench->receives[i],
                                request);
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

/* ---- iterations ------------------------------------------------------------------------------ */

static bool takes_part(const struct msgrate_exchange *x, const struct msgrate_pattern *pattern)
{
    return !pattern->one_partner || x->bench->partner >= 0;
}

/* What is sent, brought into the caches. */
static void write_sends(const struct msgrate_exchange *x, const struct msgrate_pattern *pattern)
{
    const struct msgrate_bench *const bench = x->bench;
    if (!bench->run->settings.check) {
        memset(x->send_buffer, (int)(x->iteration & 0x7f),
               msgrate_block_bytes(&x->messages) *
                   (size_t)(pattern->one_partner ? 1 : bench->npeers));
        return;
    }
    const int rank = bench->run->job.rank;
    if (pattern->one_partner)
        msgrate_write_block(&x->messages, x->send_buffer, x->iteration, rank, bench->partner);
    for (int i = 0; i < bench->npeers && !pattern->one_partner; i++)
        msgrate_write_block(&x->messages, msgrate_block(&x->messages, x->send_buffer, i),
                            x->iteration, rank, bench->sends[i]);
}

/* Wrong messages among those that arrived. */
static int64_t count_wrong(const struct msgrate_exchange *x, const struct msgrate_pattern *pattern)
{
    const struct msgrate_bench *const bench = x->bench;
    const int rank = bench->run->job.rank;
    if (pattern->one_partner && x->bench->lower)
        return 0;
    if (pattern->one_partner)
        return msgrate_count_wrong(&x->messages, arriving(x), x->iteration, bench->partner, rank);
    int64_t wrong = 0;
    for (int i = 0; i < bench->npeers; i++)
        wrong += msgrate_count_wrong(&x->messages, msgrate_block(&x->messages, arriving(x), i),
                                     x->iteration, bench->receives[i], rank);
    return wrong;
}

double msgrate_iterate(struct msgrate_exchange *exchange, const struct msgrate_pattern *pattern)
{
    struct msgrate_exchange *const x = exchange;
    const bool part = takes_part(x, pattern);
    msgrate_time_fn *const time = x->bench->lower ? pattern->time_lower : pattern->time_upper;
    if (part) {
        bc_cache_flush_run(&x->bench->flush);
        write_sends(x, pattern);
    }
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    double time_ns = -INFINITY;
    if (part)
        time_ns = (double)time(x);
    if (part && x->bench->run->settings.check)
        x->wrong += count_wrong(x, pattern);
    x->iteration++;
    return time_ns;
}

/* ---- a row ----------------------------------------------------------------------------------- */

void msgrate_exchange_create(struct msgrate_exchange *exchange, struct msgrate_bench *bench,
                             int64_t size_bytes)
{
    const struct msgrate_parameters *const p = bench->parameters;
    struct msgrate_exchange *const x = exchange;
    *x = (struct msgrate_exchange){
        .bench = bench,
        .messages = msgrate_messages_create((int)p->messages, size_bytes),
        .statuses = MPI_STATUSES_IGNORE,
    };
    x->send_buffer = msgrate_allocate(&x->messages, bench->npeers);
    x->receive_buffers[0] = msgrate_allocate(&x->messages, bench->npeers);
    x->receive_buffers[1] = x->receive_buffers[0];
    if (bench->run->settings.check)
        x->receive_buffers[1] = msgrate_allocate(&x->messages, bench->npeers);
    x->requests = malloc(2 * (size_t)bench->npeers * (size_t)p->messages * sizeof(MPI_Request));
    if (x->requests == NULL)
        bc_abort("no memory for the requests of %lld messages",
                 2LL * bench->npeers * (long long)p->messages);
}

void msgrate_exchange_destroy(struct msgrate_exchange *exchange)
{
    if (exchange->receive_buffers[1] != exchange->receive_buffers[0])
        free(exchange->receive_buffers[1]);
    free(exchange->receive_buffers[0]);
    free(exchange->send_buffer);
    free(exchange->requests);
    msgrate_messages_destroy(&exchange->messages);
}

/* What the sampler calls for each sample. */
struct iterations {
    struct msgrate_exchange *exchange;
    const struct msgrate_pattern *pattern;
};

static void take(void *context, double *values)
{
    const struct iterations *const iterations = context;
    values[0] = msgrate_iterate(iterations->exchange, iterations->pattern);
}

void msgrate_measure(struct msgrate_exchange *exchange, const struct msgrate_pattern *pattern,
                     double seconds, struct msgrate_result *result)
{
    struct msgrate_exchange *const x = exchange;
    const bool part = takes_part(x, pattern);
    struct iterations iterations = {x, pattern};
    const struct bc_source source = {
        .quantities = 1,
        .take = take,
        .context = &iterations,
    };
    x->iteration = x->wrong = 0;
    *result = msgrate_begin_result(x->bench, &x->messages, pattern->one_partner);
    if (part && pattern->begin != NULL)
        pattern->begin(x);
    msgrate_sample(x->bench, &source, pattern->name, seconds, result);
    if (part && pattern->end != NULL)
        pattern->end(x);
    msgrate_add_wrong(result, x->wrong);
}
