/* What the wire itself does: two processes exchange messages of a given size over
   one TCP connection, without MPI. The truth that the tests on the two-host
   testbed hold benchmarks against.

   pingpong: the client sends a message, the server sends one back; the one-way
             time is half of the round trip. Only one direction is in use at a time.
   both:     each sends a message while it receives the other's, as the two ranks
             of an all-reduce do; the one-way time is the time until both have
             arrived at the client. */

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
};

enum { MAX_BYTES = 1 << 30, MAX_REPETITIONS = 1000000, CONNECT_SECONDS = 10 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool usage(void)
{
    fprintf(stderr, "usage: tcp_exchange server PORT\n"
                    "       tcp_exchange client HOST PORT BYTES REPETITIONS [pingpong|both]\n");
    return false;
}

/* Sends to_send bytes and receives to_receive, at the same time where both are wanted. Returns
   false, with errno 0 for an end of the connection, where the other side is gone. */
static bool transfer(int connection, const char *out, size_t to_send, char *in, size_t to_receive)
{
    while (to_send > 0 || to_receive > 0) {
        /* poll costs time, and is needed only where either direction may go on. */
        if (to_send > 0 && to_receive > 0) {
            struct pollfd ready = {.fd = connection, .events = POLLIN | POLLOUT};
            if (poll(&ready, 1, -1) < 0 && errno != EINTR)
                return false;
        }
        const int flags = to_send > 0 && to_receive > 0 ? MSG_DONTWAIT : 0;
        if (to_send > 0) {
            const ssize_t sent = send(connection, out, to_send, flags | MSG_NOSIGNAL);
            if (sent < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
                return false;
            if (sent > 0) {
                out += sent;
                to_send -= (size_t)sent;
            }
            if (flags == 0)
                continue;
        }
        if (to_receive > 0) {
            const ssize_t received = recv(connection, in, to_receive, flags);
            if (received == 0) {
                errno = 0;
                return false;
            }
            if (received < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
                return false;
            if (received > 0) {
                in += received;
                to_receive -= (size_t)received;
            }
        }
    }
    return true;
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

static bool serve(int connection)
{
    struct request request;
    if (!send_at_once(connection))
        return false;
    if (!transfer(connection, NULL, 0, (char *)&request, sizeof request))
        return lost("reading the request");
    if (request.bytes < 1 || request.bytes > MAX_BYTES || request.pattern > BOTH) {
        fprintf(stderr, "tcp_exchange: this is no request of tcp_exchange's client\n");
        return false;
    }
    char *out = NULL;
    char *in = NULL;
    bool ok = allocate(request.bytes, &out, &in);
    for (uint64_t i = 0; ok && i < request.repetitions; i++) {
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

static bool measure(int connection, uint64_t bytes, uint64_t repetitions, enum pattern pattern,
                    int64_t *times_ns)
{
    /* TCP's window starts small and the filter's bucket full; neither is part of
       what an exchange costs in the long run. */
    const uint64_t warmup = 5 + repetitions / 10;
    const struct request request = {
        .bytes = bytes, .repetitions = warmup + repetitions, .pattern = (uint64_t)pattern};
    char *out = NULL;
    char *in = NULL;
    bool ok = send_at_once(connection) && allocate(bytes, &out, &in);
    if (ok && !transfer(connection, (const char *)&request, sizeof request, NULL, 0))
        ok = lost("sending the request");
    for (uint64_t i = 0; ok && i < warmup + repetitions; i++) {
        const int64_t start_ns = now_ns();
        if (pattern == PINGPONG)
            ok = transfer(connection, out, bytes, NULL, 0) &&
                 transfer(connection, NULL, 0, in, bytes);
        else
            ok = transfer(connection, out, bytes, in, bytes);
        const int64_t taken_ns = now_ns() - start_ns;
        if (!ok)
            lost("exchanging");
        else if (i >= warmup)
            times_ns[i - warmup] = pattern == PINGPONG ? taken_ns / 2 : taken_ns;
    }
    free(out);
    free(in);
    return ok;
}

static bool run_client(const char *host, const char *port, uint64_t bytes, uint64_t repetitions,
                       enum pattern pattern)
{
    int64_t *times_ns = calloc(repetitions, sizeof *times_ns);
    if (!times_ns)
        return lost("memory for the times");
    const int connection = connect_to(host, port);
    const bool ok = connection >= 0 && measure(connection, bytes, repetitions, pattern, times_ns);
    if (ok) {
        const double one_way_us = median_us(times_ns, repetitions);
        printf("pattern\tsize_bytes\trepetitions\tone_way_us\tbwidth_mbs\n");
        printf("%s\t%llu\t%llu\t%.3f\t%.3f\n", pattern_names[pattern], (unsigned long long)bytes,
               (unsigned long long)repetitions, one_way_us,
               (double)bytes / 1048576.0 / (one_way_us / 1e6));
    }
    if (connection >= 0)
        close(connection);
    free(times_ns);
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
    const bool client = (argc == 6 || argc == 7) && strcmp(argv[1], "client") == 0;
    if (!server && !client) {
        usage();
        return 2;
    }
    const char *port = argv[server ? 2 : 3];
    if (number("port", port, 65535) == 0)
        return 2;
    if (server)
        return run_server(port) ? 0 : 1;

    const uint64_t bytes = number("bytes", argv[4], MAX_BYTES);
    const uint64_t repetitions = bytes ? number("repetitions", argv[5], MAX_REPETITIONS) : 0;
    if (repetitions == 0)
        return 2;
    enum pattern pattern = PINGPONG;
    if (argc == 7 && strcmp(argv[6], pattern_names[BOTH]) == 0) {
        pattern = BOTH;
    } else if (argc == 7 && strcmp(argv[6], pattern_names[PINGPONG]) != 0) {
        fprintf(stderr, "tcp_exchange: pattern '%s': use pingpong or both\n", argv[6]);
        return 2;
    }
    return run_client(argv[2], port, bytes, repetitions, pattern) ? 0 : 1;
}
