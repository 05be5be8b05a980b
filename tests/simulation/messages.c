/*
 * Counts every message that a simulated job sends and receives, those of which SMPI's collectives
 * are made included: preloaded under smpirun, it comes before the functions of SimGrid's kernel in
 * which each message is posted.
 *
 * These are SimGrid's own (version 3.32): what they are given is read by its place. cost_test.py
 * checks the counts of messages that it knows before it believes any other.
 *
 * At the end it writes to the file SIMULATION_COUNTS: rank, phase, messages sent, bytes sent,
 * messages received, bytes received; and with phase "memory" now and most bytes, with phase "time"
 * the nanoseconds of the run and of its budget.
 */
#include "tests/simulation/messages.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 2048 };

struct count {
    int64_t sent, sent_bytes, received, received_bytes;
};

static struct rank {
    const void *actor; /* SimGrid's name for it */
    enum simulation_phase phase;
    struct count counts[SIMULATION_PHASES];
    int64_t now_bytes, most_bytes;
    int64_t ran_ns, budget_ns;
} all[RANKS_MAX];

static int last_found;

/* simgrid::kernel::actor::ActorImpl::self() */
extern void *self(void) __asm__("_ZN7simgrid6kernel5actor9ActorImpl4selfEv");

enum simulation_phase simulation_enter(int rank, enum simulation_phase phase)
{
    if (rank >= RANKS_MAX)
        abort();
    const enum simulation_phase before = all[rank].phase;
    all[rank].actor = self();
    all[rank].phase = phase;
    return before;
}

void simulation_memory(int rank, int64_t now_bytes, int64_t most_bytes)
{
    all[rank].now_bytes = now_bytes;
    all[rank].most_bytes = most_bytes;
}

void simulation_time(int rank, int64_t ran_ns, int64_t budget_ns)
{
    all[rank].ran_ns = ran_ns;
    all[rank].budget_ns = budget_ns;
}

/* Where an actor counts; before it has told its rank nowhere. Actors come in
   the order of their ranks, mostly. */
static struct count *count_of(const void *actor)
{
    for (int i = 0; i < RANKS_MAX; i++) {
        const int rank = (last_found + i) % RANKS_MAX;
        if (all[rank].actor == actor) {
            last_found = rank;
            return &all[rank].counts[all[rank].phase];
        }
    }
    return NULL;
}

/* ---- SimGrid's functions --------------------------------------------------------------------- */

/* CommImpl::isend and irecv: they return an object, by way of `result`, and get one
   that describes the call. */
typedef void *post_function(void *result, const char *call);
#define ISEND "_ZN7simgrid6kernel8activity8CommImpl5isendEPNS0_5actor16CommIsendSimcallE"
#define IRECV "_ZN7simgrid6kernel8activity8CommImpl5irecvEPNS0_5actor16CommIrecvSimcallE"

/* After the pointer to the virtual functions: the actor, the mailbox; then to send
   the bytes as a double, to receive the buffer and where its bytes are. */
struct send_call {
    const void *functions, *actor, *mailbox;
    double bytes;
};
struct receive_call {
    const void *functions, *actor, *mailbox, *buffer;
    const size_t *bytes;
};

void *simulation_isend(void *result, const char *call) __asm__(ISEND);
void *simulation_irecv(void *result, const char *call) __asm__(IRECV);

void *simulation_isend(void *result, const char *call)
{
    static post_function *next;
    if (next == NULL)
        next = (post_function *)dlsym(RTLD_NEXT, ISEND);
    struct send_call send;
    memcpy(&send, call, sizeof send);
    struct count *const count = count_of(send.actor);
    if (count != NULL) {
        count->sent++;
        count->sent_bytes += (int64_t)send.bytes;
    }
    return next(result, call);
}

void *simulation_irecv(void *result, const char *call)
{
    static post_function *next;
    if (next == NULL)
        next = (post_function *)dlsym(RTLD_NEXT, IRECV);
    struct receive_call receive;
    memcpy(&receive, call, sizeof receive);
    struct count *const count = count_of(receive.actor);
    if (count != NULL) {
        count->received++;
        count->received_bytes += (int64_t)*receive.bytes;
    }
    return next(result, call);
}

/* ---- the end --------------------------------------------------------------------------------- */

__attribute__((destructor)) static void report(void)
{
    static const char *const names[] = {"operation", "harness", "job",    "begin",
                                        "end",       "check",   "library"};
    const char *const path = getenv("SIMULATION_COUNTS");
    FILE *const file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL)
        return;
    for (int rank = 0; rank < RANKS_MAX && all[rank].actor != NULL; rank++) {
        for (int p = 0; p < SIMULATION_PHASES; p++) {
            const struct count *const c = &all[rank].counts[p];
            fprintf(file, "%d\t%s\t%lld\t%lld\t%lld\t%lld\n", rank, names[p], (long long)c->sent,
                    (long long)c->sent_bytes, (long long)c->received, (long long)c->received_bytes);
        }
        fprintf(file, "%d\tmemory\t%lld\t%lld\n", rank, (long long)all[rank].now_bytes,
                (long long)all[rank].most_bytes);
        fprintf(file, "%d\ttime\t%lld\t%lld\n", rank, (long long)all[rank].ran_ns,
                (long long)all[rank].budget_ns);
    }
    fclose(file);
}
