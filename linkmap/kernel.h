/*
 * A message and its answer: the timed region of linkmap.
 */
#pragma once

#include <mpi.h>

/* A message to another rank, and its answer. */
struct linkmap_message {
    void *sent, *received; /* buffers of at least `bytes` bytes, all pages in place */
    int bytes;
    int answer_bytes;
    int partner, tag;
    MPI_Comm comm;
    int repetitions;
};

/* Sends the message and waits for its answer: once to warm up, then `repetitions` times, whose
   times go to `times_ns`, the clock's cost included. The partner calls linkmap_answer with the same
   message. An MPI error ends the job. */
void linkmap_ask(const struct linkmap_message *message, double *times_ns);

void linkmap_answer(const struct linkmap_message *message);
