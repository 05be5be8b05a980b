/* What the wire itself does: two processes exchange messages of a given size over
   one TCP connection, without MPI. The truth that the tests on the two-host
   testbed hold benchmarks against.

   pingpong: the client sends a message, the server sends one back; the one-way
             time is half of the round trip. Only one direction is in use at a time.
   both:     each sends a message while it receives the other's, as the two ranks
             of an all-reduce do; the one-way time is the time until both have
             arrived at the client. With WORK_US both sides take the same time for the
             exchange alone, for work of WORK_US microseconds alone, and for the
             exchange with that work in it, in turn: hand to the kernel what the socket
             takes, work, exchange the rest. exposed_us is what the exchange adds to the
             work, on the side where that is more. */

#include "common/clock/work.h"
#include "common/stats/stats.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum pattern { PINGPONG, BOTH };

static const char *const pattern_names[] = {"pingpong", "both"};

/* What the client tells the server first. Both run the same program on the same
   machine, so the layout agrees. */
struct request {
    uint64_t bytes;
    uint64_t repetitions; /* warm-up included */
    uint64_t pattern;
    uint64_t warmup;
    uint64_t work_us; /* 0: no work */
};

enum {
    MAX_BYTES = 1 << 30,
    MAX_REPETITIONS = 1000000,
    MAX_WORK_US = 1000000,
    CONNECT_SECONDS = 10
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool usage(void)
{
    fprintf(stderr,
            "usage: tcp_exchange server PORT\n"
            "       tcp_exchange client HOST PORT BYTES REPETITIONS [pingpong|both [WORK_US]]\n");
    return false;
}

/* What is left to send and to receive. */
struct exchange {
    const char *out;
    size_t to_send;
    char *in;
    size_t to_receive;
};

/* One call of send(). Returns false where the other side is gone. */
static bool send_some(int connection, struct exchange *exchange, int flags)
{
    const ssize_t sent = send(connection, exchange->out, exchange->to_send, flags | MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
    exchange->out += sent;
    exchange->to_send -= (size_t)sent;
    return true;
}

/* One call of recv(). Returns false, with errno 0 for an end of the connection, where the other
   side is gone. */
static bool receive_some(int connection, struct exchange *exchange, int flags)
{
    const ssize_t received = recv(connection, exchange->in, exchange->to_receive, flags);
    if (received == 0)
        errno = 0;
    if (received <= 0)
        return received < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK);
    exchange->in += received;
    exchange->to_receive -= (size_t)received;
    return true;
}

/* Hands to the kernel what it takes without waiting. Returns as send_some(). */
static bool post(int connection, struct exchange *exchange)
{
    size_t before;
    do {
        before = exchange->to_send;
        if (!send_some(connection, exchange, MSG_DONTWAIT))
            return false;
    } while (exchange->to_send > 0 && exchange->to_send < before);
    return true;
}

/* Sends and receives the rest, at the same time where there is some of both. Returns as
   receive_some(). */
static bool finish(int connection, struct exchange *exchange)
{
    while (exchange->to_send > 0 || exchange->to_receive > 0) {
        const bool both = exchange->to_send > 0 && exchange->to_receive > 0;
        /* poll costs time, and is needed only where either direction may go on. */
        if (both) {
            struct pollfd ready = {.fd = connection, .events = POLLIN | POLLOUT};
            if (poll(&ready, 1, -1) < 0 && errno != EINTR)
                return false;
        }
        const int flags = both ? MSG_DONTWAIT : 0;
        if (exchange->to_send > 0) {
            if (!send_some(connection, exchange, flags))
                return false;
            if (!both)
                continue;
        }
        if (exchange->to_receive > 0 && !receive_some(connection, exchange, flags))
            return false;
    }
    return true;
}

/* Sends to_send bytes and receives to_receive. Returns as receive_some(). */
static bool transfer(int connection, const char *out, size_t to_send, char *in, size_t to_receive)
{
    struct exchange exchange = {out, to_send, in, to_receive};
    return finish(connection, &exchange);
}

static bool lost(const char *what)
{
    fprintf(stderr, "tcp_exchange: %s: %s\n", what, errno ? strerror(errno) : "connection closed");
    return false;
}

/* Buffers of the size, written to so that no page is touched first while timing. */
static bool allocate(size_t bytes, char **out, char **in)
{
    *out = malloc(bytes);
    *in = malloc(bytes);
    if (!*out || !*in) {
        fprintf(stderr, "tcp_exchange: no memory for two buffers of %zu bytes\n", bytes);
        return false;
    }
    memset(*out, 1, bytes);
    memset(*in, 2, bytes);
    return true;
}

static bool send_at_once(int connection)
{
    const int on = 1;
    return setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 ||
           lost("TCP_NODELAY");
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double median_us(int64_t *times_ns, uint64_t count)
{
    qsort(times_ns, count, sizeof *times_ns, ascending);
    const int64_t lower_ns = times_ns[(count - 1) / 2];
    const int64_t upper_ns = times_ns[count / 2];
    return (double)(lower_ns + upper_ns) / 2e3;
}

/* ---- exchanges with work --------------------------------------------------------------------- */

/* Sides that sleep are woken on the processor that received for them, which may be the one on which
   the other side works. So these poll, as an MPI library does. */

/* Sends and receives the rest without sleeping. Returns as receive_some(). */
static bool finish_polling(int connection, struct exchange *exchange)
{
    while (exchange->to_send > 0 || exchange->to_receive > 0) {
        if (exchange->to_send > 0 && !send_some(connection, exchange, MSG_DONTWAIT))
            return false;
        if (exchange->to_receive > 0 && !receive_some(connection, exchange, MSG_DONTWAIT))
            return false;
    }
    return true;
}

/* Both sides leave within the wire's latency of each other. */
static bool meet(int connection)
{
    const char out = 0;
    char in;
    struct exchange exchange = {&out, 1, &in, 1};
    return finish_polling(connection, &exchange);
}

/* What one round took, in ns. */
enum round_time {
    EXCHANGE, /* alone */
    ALONE,    /* the work */
    INSIDE,   /* the work, while the exchange goes on */
    BESIDE,   /* what comes before and after that work */
    ROUND_TIMES
};

static bool time_round(int connection, const char *out, char *in, size_t bytes, uint64_t work_units,
                       int64_t taken_ns[ROUND_TIMES])
{
    if (!meet(connection))
        return false;
    struct exchange exchange = {out, bytes, in, bytes};
    int64_t start_ns = now_ns();
    if (!finish_polling(connection, &exchange))
        return false;
    taken_ns[EXCHANGE] = now_ns() - start_ns;

    if (!meet(connection))
        return false;
    start_ns = now_ns();
    bc_work(work_units);
    taken_ns[ALONE] = now_ns() - start_ns;

    if (!meet(connection))
        return false;
    exchange = (struct exchange){out, bytes, in, bytes};
    start_ns = now_ns();
    if (!post(connection, &exchange))
        return false;
    const int64_t posted_ns = now_ns();
    bc_work(work_units);
    taken_ns[INSIDE] = now_ns() - posted_ns;
    if (!finish_polling(connection, &exchange))
        return false;
    taken_ns[BESIDE] = now_ns() - start_ns - taken_ns[INSIDE];
    return true;
}

struct work_result {
    double exchange_us, exposed_us;
};

/* By medians over rounds: of what lies beside the work, and of what the kernel takes from the work,
   by which that is longer inside the exchange than alone in the same round. Sorts. */
static struct work_result summarize(double *times_ns[ROUND_TIMES], size_t count)
{
    double *const taken_ns = times_ns[INSIDE];
    for (size_t i = 0; i < count; i++)
        taken_ns[i] -= times_ns[ALONE][i];
    for (int i = 0; i < ROUND_TIMES; i++)
        bc_sort(times_ns[i], count);
    return (struct work_result){
        .exchange_us = bc_quantile(times_ns[EXCHANGE], count, 0.5) / 1e3,
        .exposed_us =
            (bc_quantile(times_ns[BESIDE], count, 0.5) + bc_quantile(taken_ns, count, 0.5)) / 1e3,
    };
}

/* This side's part; both sides call it after the request. */
static bool run_rounds(int connection, const struct request *request, const char *out, char *in,
                       struct work_result *result)
{
    const struct bc_work_rate rate = bc_work_calibrate();
    const uint64_t units = bc_work_units(&rate, (double)request->work_us * 1e3);
    const size_t kept = request->repetitions - request->warmup;
    double *const kept_ns = calloc(ROUND_TIMES * kept, sizeof *kept_ns);
    if (!kept_ns)
        return lost("memory for the times");
    double *times_ns[ROUND_TIMES];
    for (size_t i = 0; i < ROUND_TIMES; i++)
        times_ns[i] = kept_ns + i * kept;
    bool ok = true;
    for (uint64_t round = 0; ok && round < request->repetitions; round++) {
        int64_t taken_ns[ROUND_TIMES];
        ok = time_round(connection, out, in, request->bytes, units, taken_ns);
        for (int i = 0; ok && round >= request->warmup && i < ROUND_TIMES; i++)
            times_ns[i][round - request->warmup] = (double)taken_ns[i];
    }
    if (ok)
        *result = summarize(times_ns, kept);
    free(kept_ns);
    return ok || lost("exchanging");
}

/* ---- the server ------------------------------------------------------------------------------ */

static bool serve_rounds(int connection, const struct request *request, const char *out, char *in)
{
    struct work_result result;
    if (!run_rounds(connection, request, out, in, &result))
        return false;
    return transfer(connection, (const char *)&result, sizeof result, NULL, 0) ||
           lost("sending the times");
}

static bool serve(int connection)
{
    struct request request;
    if (!send_at_once(connection))
        return false;
    if (!transfer(connection, NULL, 0, (char *)&request, sizeof request))
        return lost("reading the request");
    if (request.bytes < 1 || request.bytes > MAX_BYTES || request.pattern > BOTH ||
        request.warmup >= request.repetitions ||
        request.repetitions > (size_t)2 * MAX_REPETITIONS || request.work_us > MAX_WORK_US) {
        fprintf(stderr, "tcp_exchange: this is no request of tcp_exchange's client\n");
        return false;
    }
    char *out = NULL;
    char *in = NULL;
    bool ok = allocate(request.bytes, &out, &in);
    if (ok && request.work_us > 0)
        ok = serve_rounds(connection, &request, out, in);
    for (uint64_t i = 0; ok && request.work_us == 0 && i < request.repetitions; i++) {
        if (request.pattern == PINGPONG)
            ok = transfer(connection, NULL, 0, in, request.bytes) &&
                 transfer(connection, out, request.bytes, NULL, 0);
        else
            ok = transfer(connection, out, request.bytes, in, request.bytes);
        if (!ok)
            lost("exchanging");
    }
    free(out);
    free(in);
    return ok;
}

/* Serves one client after the other until it is ended by a signal. */
static bool run_server(const char *port)
{
    const struct addrinfo hints = {
        .ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *address = NULL;
    const int error = getaddrinfo(NULL, port, &hints, &address);
    if (error) {
        fprintf(stderr, "tcp_exchange: port %s: %s\n", port, gai_strerror(error));
        return false;
    }
    const int listener = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
    const int on = 1;
    const bool listening =
        listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(listener, address->ai_addr, address->ai_addrlen) == 0 && listen(listener, 4) == 0;
    freeaddrinfo(address);
    if (!listening)
        return lost("listening");
    for (;;) {
        const int connection = accept(listener, NULL, NULL);
        if (connection < 0) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            return lost("accepting");
        }
        serve(connection);
        close(connection);
    }
}

/* The server may just be starting, so a refused connection is tried again. */
static int connect_to(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *address = NULL;
    const int error = getaddrinfo(host, port, &hints, &address);
    if (error) {
        fprintf(stderr, "tcp_exchange: %s port %s: %s\n", host, port, gai_strerror(error));
        return -1;
    }
    const int64_t give_up_ns = now_ns() + INT64_C(1000000000) * CONNECT_SECONDS;
    int connection = -1;
    while (connection < 0) {
        connection = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
        if (connection < 0)
            break;
        if (connect(connection, address->ai_addr, address->ai_addrlen) == 0)
            break;
        const int reason = errno;
        close(connection);
        connection = -1;
        errno = reason;
        if (reason != ECONNREFUSED || now_ns() > give_up_ns)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    if (connection < 0)
        lost("connecting");
    freeaddrinfo(address);
    return connection;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* The exchange with work in it, on the side where it takes longer. */
static bool measure_rounds(int connection, const struct request *request, const char *out, char *in,
                           struct work_result *result)
{
    struct work_result server;
    if (!run_rounds(connection, request, out, in, result))
        return false;
    if (!transfer(connection, NULL, 0, (char *)&server, sizeof server))
        return lost("reading the server's times");
    result->exchange_us = larger(result->exchange_us, server.exchange_us);
    result->exposed_us = larger(result->exposed_us, server.exposed_us);
    return true;
}

static bool measure_one_way(int connection, const struct request *request, const char *out,
                            char *in, double *one_way_us)
{
    const uint64_t kept = request->repetitions - request->warmup;
    int64_t *times_ns = calloc(kept, sizeof *times_ns);
    if (!times_ns)
        return lost("memory for the times");
    const size_t bytes = request->bytes;
    bool ok = true;
    for (uint64_t i = 0; ok && i < request->repetitions; i++) {
        const int64_t start_ns = now_ns();
        if (request->pattern == PINGPONG)
            ok = transfer(connection, out, bytes, NULL, 0) &&
                 transfer(connection, NULL, 0, in, bytes);
        else
            ok = transfer(connection, out, bytes, in, bytes);
        const int64_t taken_ns = now_ns() - start_ns;
        if (!ok)
            lost("exchanging");
        else if (i >= request->warmup)
            times_ns[i - request->warmup] = request->pattern == PINGPONG ? taken_ns / 2 : taken_ns;
    }
    if (ok)
        *one_way_us = median_us(times_ns, kept);
    free(times_ns);
    return ok;
}

/* exposed_us of the result only with work. */
static bool measure(int connection, const struct request *request, struct work_result *result)
{
    char *out = NULL;
    char *in = NULL;
    bool ok = send_at_once(connection) && allocate(request->bytes, &out, &in);
    if (ok && !transfer(connection, (const char *)request, sizeof *request, NULL, 0))
        ok = lost("sending the request");
    if (ok)
        ok = request->work_us > 0
                 ? measure_rounds(connection, request, out, in, result)
                 : measure_one_way(connection, request, out, in, &result->exchange_us);
    free(out);
    free(in);
    return ok;
}

static void print_row(const struct request *request, const struct work_result *result)
{
    const bool work = request->work_us > 0;
    printf("pattern\tsize_bytes\trepetitions\tone_way_us\tbwidth_mbs%s\n",
           work ? "\twork_us\texposed_us" : "");
    printf("%s\t%llu\t%llu\t%.3f\t%.3f", pattern_names[request->pattern],
           (unsigned long long)request->bytes,
           (unsigned long long)(request->repetitions - request->warmup), result->exchange_us,
           (double)request->bytes / 1048576.0 / (result->exchange_us / 1e6));
    if (work)
        printf("\t%llu\t%.3f", (unsigned long long)request->work_us, result->exposed_us);
    printf("\n");
}

static bool run_client(const char *host, const char *port, const struct request *request)
{
    const int connection = connect_to(host, port);
    struct work_result result;
    const bool ok = connection >= 0 && measure(connection, request, &result);
    if (ok)
        print_row(request, &result);
    if (connection >= 0)
        close(connection);
    return ok && fflush(stdout) == 0;
}

/* A whole number from 1 to most; 0 and a message for anything else. */
static uint64_t number(const char *name, const char *text, uint64_t most)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 || value > most) {
        fprintf(stderr, "tcp_exchange: %s '%s': use a whole number from 1 to %llu\n", name, text,
                (unsigned long long)most);
        return 0;
    }
    return value;
}

int main(int argc, char **argv)
{
    const bool server = argc == 3 && strcmp(argv[1], "server") == 0;
    const bool client = argc >= 6 && argc <= 8 && strcmp(argv[1], "client") == 0;
    if (!server && !client) {
        usage();
        return 2;
    }
    const char *port = argv[server ? 2 : 3];
    if (number("port", port, 65535) == 0)
        return 2;
    if (server)
        return run_server(port) ? 0 : 1;

    struct request request = {.bytes = number("bytes", argv[4], MAX_BYTES)};
    const uint64_t repetitions =
        request.bytes ? number("repetitions", argv[5], MAX_REPETITIONS) : 0;
    if (repetitions == 0)
        return 2;
    /* TCP's window starts small and the filter's bucket full; neither is part of
       what an exchange costs in the long run. */
    request.warmup = 5 + repetitions / 10;
    request.repetitions = request.warmup + repetitions;
    request.pattern = PINGPONG;
    if (argc >= 7 && strcmp(argv[6], pattern_names[BOTH]) == 0) {
        request.pattern = BOTH;
    } else if (argc >= 7 && strcmp(argv[6], pattern_names[PINGPONG]) != 0) {
        fprintf(stderr, "tcp_exchange: pattern '%s': use pingpong or both\n", argv[6]);
        return 2;
    }
    if (argc == 8) {
        if (request.pattern != BOTH) {
            fprintf(stderr, "tcp_exchange: work goes with the pattern both only\n");
            return 2;
        }
        request.work_us = number("work", argv[7], MAX_WORK_US);
        if (request.work_us == 0)
            return 2;
    }
    return run_client(argv[2], port, &request) ? 0 : 1;
}
