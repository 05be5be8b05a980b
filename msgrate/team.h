/*
 * A team of threads that call one function together, again and again. Between calls they spin (and
 * yield), so that a call begins without a system call. All functions are local.
 */
#ifndef COMMCOST_MSGRATE_TEAM_H
#define COMMCOST_MSGRATE_TEAM_H

struct msgrate_team;

/* Gets the context and the thread's number, 0 to threads - 1. */
typedef void msgrate_team_fn(const void *context, int thread);

/* Starts all threads but the calling one, which is number 0. Ends the job if a thread can't be
   started. */
struct msgrate_team *msgrate_team_create(int threads);

/* Calls `work` on every thread; returns when all calls have returned. */
void msgrate_team_run(struct msgrate_team *team, msgrate_team_fn *work, const void *context);

void msgrate_team_destroy(struct msgrate_team *team);

#endif
