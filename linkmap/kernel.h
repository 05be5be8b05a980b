/*
 * A message and its answer: the timed region of linkmap.
 */
#ifndef COMMCOST_LINKMAP_KERNEL_H
#define COMMCOST_LINKMAP_KERNEL_H

#include <mpi.h>

/* What goes between this rank and another one. */
struct linkmap_message {
    void *sent, *received; /* of at least `bytes`, all pages in place */
    int bytes;
    int answer_bytes;
    int partner, tag;
    MPI_Comm comm;
    int repetitions;
};

/* Sends the message and waits for its answer, `repetitions` times after once to warm up; `times_ns`
   gets what each time takes, the clock's cost included. The partner calls linkmap_answer with the
   same numbers. An MPI error ends the job. */
void linkmap_ask(const struct linkmap_message *message, double *times_ns);

void linkmap_answer(const struct linkmap_message *message);

#endif
