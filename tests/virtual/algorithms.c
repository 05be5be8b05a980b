/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/virtual/algorithms.h"

#include "tests/virtual/world.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum algorithm algorithm_chosen(void)
{
    static const char *const names[] = {"", "linear", "binomial", "ring", "recursive_doubling"};
    static int chosen = -1;
    const char *const text = getenv("MODEL_ALGORITHM");
    if (chosen >= 0)
        return (enum algorithm)chosen;
    for (size_t i = 0; i < sizeof names / sizeof *names && chosen < 0; i++)
        if (strcmp(text != NULL ? text : "", names[i]) == 0)
            chosen = (int)i;
    if (chosen < 0)
        world_abort("MODEL_ALGORITHM=%s: has to be linear, binomial, ring or recursive_doubling",
                    text);
    return (enum algorithm)chosen;
}

/* Members are numbered from the root on, which is 0. */
struct run {
    const struct algorithm_case *c;
    double *at_ns;
};

static int64_t bytes_of_member(const struct run *run, int member)
{
    return run->c->bytes[(member + run->c->root) % run->c->size];
}

/* The bytes of the members first to end - 1 together. */
static int64_t bytes_between(const struct run *run, int first, int end)
{
    int64_t bytes = 0;
    for (int member = first; member < end && member < run->c->size; member++)
        bytes += bytes_of_member(run, member);
    return bytes;
}

/* A message of a tree or a ring that carries what these members send or get. */
static int64_t carried(const struct run *run, int first, int end)
{
    return run->c->blocks ? bytes_between(run, first, end) : bytes_of_member(run, 0);
}

/* Sends, and returns when the message is there. */
static double send(const struct run *run, int from, int64_t bytes)
{
    run->at_ns[from] += run->c->per_byte_ns * (double)bytes;
    return run->at_ns[from] + run->c->latency_ns;
}

static void receive(const struct run *run, int to, double arrival_ns)
{
    run->at_ns[to] = fmax(run->at_ns[to], arrival_ns);
}

static void message(const struct run *run, int from, int to, int64_t bytes)
{
    receive(run, to, send(run, from, bytes));
}

/* ---- from the root --------------------------------------------------------------------------- */

static void linear_from_root(const struct run *run)
{
    for (int member = 1; member < run->c->size; member++)
        message(run, 0, member, bytes_of_member(run, run->c->blocks ? member : 0));
}

static void ring_from_root(const struct run *run)
{
    for (int member = 1; member < run->c->size; member++)
        message(run, member - 1, member, carried(run, member, run->c->size));
}

static int power_of_two_from(int size)
{
    int power = 1;
    while (power < size)
        power *= 2;
    return power;
}

/* Who has the data sends it half as far as the last time. */
static void binomial_from_root(const struct run *run)
{
    for (int far = power_of_two_from(run->c->size) / 2; far > 0; far /= 2)
        for (int member = 0; member + far < run->c->size; member += 2 * far)
            message(run, member, member + far, carried(run, member + far, member + 2 * far));
}

/* ---- to the root ----------------------------------------------------------------------------- */

static void linear_to_root(const struct run *run)
{
    for (int member = 1; member < run->c->size; member++)
        message(run, member, 0, bytes_of_member(run, member));
}

static void ring_to_root(const struct run *run)
{
    for (int member = run->c->size - 1; member > 0; member--)
        message(run, member, member - 1, carried(run, member, run->c->size));
}

static void binomial_to_root(const struct run *run)
{
    for (int far = 1; far < run->c->size; far *= 2)
        for (int member = 0; member + far < run->c->size; member += 2 * far)
            message(run, member + far, member, carried(run, member + far, member + 2 * far));
}

/* ---- rounds, in which messages cross --------------------------------------------------------- */

/* Each member sends to the one `far` above it. Without `around` the last ones send nothing. */
static void send_up(const struct run *run, int far, bool around)
{
    const int size = run->c->size;
    double *const arrivals_ns = calloc((size_t)size, sizeof *arrivals_ns);
    if (arrivals_ns == NULL)
        world_abort("no memory");
    for (int member = 0; member < size; member++)
        if (around || member + far < size)
            arrivals_ns[(member + far) % size] = send(run, member, bytes_of_member(run, member));
    for (int member = 0; member < size; member++)
        receive(run, member, arrivals_ns[member]);
    free(arrivals_ns);
}

/* Each member sends to all others, or to all above it, one after the other, before it waits. */
static void linear_to_many(const struct run *run, bool around)
{
    const int size = run->c->size;
    double *const last_ns = calloc((size_t)size, sizeof *last_ns);
    if (last_ns == NULL)
        world_abort("no memory");
    for (int member = 0; member < size; member++)
        for (int far = 1; around ? far < size : member + far < size; far++) {
            const int to = (member + far) % size;
            last_ns[to] = fmax(last_ns[to], send(run, member, bytes_of_member(run, member)));
        }
    for (int member = 0; member < size; member++)
        receive(run, member, last_ns[member]);
    free(last_ns);
}

static void swap(const struct run *run, int one, int other)
{
    const double to_other_ns = send(run, one, bytes_of_member(run, one));
    const double to_one_ns = send(run, other, bytes_of_member(run, other));
    receive(run, one, to_one_ns);
    receive(run, other, to_other_ns);
}

/* Those beyond a power of two hand their data to a partner, and get the result from it. */
static void recursive_doubling(const struct run *run)
{
    const int size = run->c->size;
    const int power = power_of_two_from(size) > size ? power_of_two_from(size) / 2 : size;
    for (int member = power; member < size; member++)
        message(run, member, member - power, bytes_of_member(run, member));
    for (int far = 1; far < power; far *= 2)
        for (int member = 0; member < power; member++)
            if ((member & far) == 0)
                swap(run, member, member | far);
    for (int member = power; member < size; member++)
        message(run, member - power, member, bytes_of_member(run, member - power));
}

static void to_all(const struct run *run)
{
    switch (run->c->algorithm) {
    case ALGORITHM_LINEAR:
        linear_to_many(run, true);
        break;
    case ALGORITHM_RING:
        for (int step = 1; step < run->c->size; step++)
            send_up(run, 1, true);
        break;
    case ALGORITHM_BINOMIAL:
        binomial_to_root(run);
        binomial_from_root(run);
        break;
    default:
        recursive_doubling(run);
    }
}

/* Each member needs what those below it have. */
static void up(const struct run *run)
{
    if (run->c->algorithm == ALGORITHM_LINEAR)
        linear_to_many(run, false);
    else if (run->c->algorithm == ALGORITHM_RING)
        for (int member = 1; member < run->c->size; member++)
            message(run, member - 1, member, bytes_of_member(run, member - 1));
    else
        for (int far = 1; far < run->c->size; far *= 2)
            send_up(run, far, false);
}

/* ---- a case ---------------------------------------------------------------------------------- */

static void run_flow(const struct run *run)
{
    const enum algorithm algorithm = run->c->algorithm;
    if (run->c->flow == FLOW_TO_ALL)
        to_all(run);
    else if (run->c->flow == FLOW_UP)
        up(run);
    else if (run->c->flow == FLOW_FROM_ROOT)
        (algorithm == ALGORITHM_LINEAR ? linear_from_root
         : algorithm == ALGORITHM_RING ? ring_from_root
                                       : binomial_from_root)(run);
    else
        (algorithm == ALGORITHM_LINEAR ? linear_to_root
         : algorithm == ALGORITHM_RING ? ring_to_root
                                       : binomial_to_root)(run);
}

void algorithm_run(const struct algorithm_case *c, int64_t *at_ns)
{
    double *const members_ns = calloc((size_t)c->size, sizeof *members_ns);
    const struct run run = {c, members_ns};
    if (members_ns == NULL)
        world_abort("no memory");
    /* From the first one on, since a double holds a small time exactly enough. */
    int64_t first_ns = at_ns[0];
    for (int rank = 1; rank < c->size; rank++)
        first_ns = at_ns[rank] < first_ns ? at_ns[rank] : first_ns;
    for (int member = 0; member < c->size; member++)
        members_ns[member] = (double)(at_ns[(member + c->root) % c->size] - first_ns);
    run_flow(&run);
    for (int member = 0; member < c->size; member++)
        at_ns[(member + c->root) % c->size] = first_ns + llround(members_ns[member]);
    free(members_ns);
}
