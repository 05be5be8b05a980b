#include "common/mpi/mpi_check.h"
#include "msgrate/access.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

/* Times that a waiting thread looks before it offers its processor to another one. */
#define LOOKS 1000

struct member {
    struct msgrate_team *team;
    int number;
    pthread_t thread;
};

struct msgrate_team {
    int threads;
    atomic_uint calls;     /* of msgrate_team_run so far */
    atomic_int at_work;    /* members that have not finished the last call yet */
    msgrate_team_fn *work; /* NULL: members end */
    const void *context;
    struct member members[]; /* all threads but the caller */
};

static void pause_a_little(int *looks)
{
    if (++*looks < LOOKS)
        return;
    *looks = 0;
    sched_yield();
}

static void *serve(void *argument)
{
    const struct member *const me = argument;
    struct msgrate_team *const team = me->team;
    for (unsigned call = 1;; call++) {
        int looks = 0;
        while (atomic_load_explicit(&team->calls, memory_order_acquire) != call)
            pause_a_little(&looks);
        if (team->work == NULL)
            return NULL;
        team->work(team->context, me->number);
        atomic_fetch_sub_explicit(&team->at_work, 1, memory_order_release);
    }
}

struct msgrate_team *msgrate_team_create(int threads)
{
    const size_t bytes = sizeof(struct msgrate_team) + (size_t)threads * sizeof(struct member);
    struct msgrate_team *const team = bc_allocate(1, bytes, "no memory for %d threads", threads);
    struct member *const members = team->members;
    team->threads = threads;
    for (int i = 0; i < threads - 1; i++) {
        members[i] = (struct member){.team = team, .number = i + 1};
        if (pthread_create(&members[i].thread, NULL, serve, &members[i]) != 0)
            bc_abort("could not start thread %d of %d: use fewer", i + 2, threads);
    }
    return team;
}

void msgrate_team_run(struct msgrate_team *team, msgrate_team_fn *work, const void *context)
{
    if (team->threads == 1) {
        work(context, 0);
        return;
    }
    team->work = work;
    team->context = context;
    atomic_store_explicit(&team->at_work, team->threads - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&team->calls, 1, memory_order_release);
    work(context, 0);
    int looks = 0;
    while (atomic_load_explicit(&team->at_work, memory_order_acquire) > 0)
        pause_a_little(&looks);
}

void msgrate_team_destroy(struct msgrate_team *team)
{
    team->work = NULL;
    atomic_fetch_add_explicit(&team->calls, 1, memory_order_release);
    for (int i = 0; i < team->threads - 1; i++)
        pthread_join(team->members[i].thread, NULL);
    free(team);
}
