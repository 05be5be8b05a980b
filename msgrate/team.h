/*
 * A team of threads that work on one thing together, again and again: waiting
 * for the next, they spin (and yield), so that starting takes no system call.
 * Local.
 */
#ifndef COMMCOST_MSGRATE_TEAM_H
#define COMMCOST_MSGRATE_TEAM_H

struct msgrate_team;

/* `work` is called with the context and the thread's number, 0 to threads - 1. */
typedef void msgrate_team_fn(const void *context, int thread);

/* Starts the threads; the calling one is number 0. Ends the job if they can't
   be had. */
struct msgrate_team *msgrate_team_create(int threads);

/* Calls `work` on every thread; returns when all are done. */
void msgrate_team_run(struct msgrate_team *team, msgrate_team_fn *work, const void *context);

void msgrate_team_destroy(struct msgrate_team *team);

#endif
