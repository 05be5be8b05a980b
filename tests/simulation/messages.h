/*
 * What the simulated program tells the library that counts messages. Both are of the same process:
 * smpirun loads the library first, then the program once for each rank.
 */
#ifndef COMMCOST_SIMULATION_MESSAGES_H
#define COMMCOST_SIMULATION_MESSAGES_H

#include <stdint.h>

/* Whose messages they are. */
enum simulation_phase {
    SIMULATION_OPERATION, /* what is measured, and what a benchmark sets up for it */
    SIMULATION_HARNESS,   /* what releases and brings together samples */
    SIMULATION_JOB,       /* what bc_job_describe asks */
    SIMULATION_BEGIN,     /* the rest of the start-up */
    SIMULATION_END,
    SIMULATION_CHECK,   /* whether what syncbench measures synchronises */
    SIMULATION_LIBRARY, /* MPI's making of communicators, whoever asks for it */
    SIMULATION_PHASES
};

/* From now on this rank's messages belong to that phase. Returns the last one. */
enum simulation_phase simulation_enter(int rank, enum simulation_phase phase);

/* The bytes that this rank's program has allocated itself, now and at most. */
void simulation_memory(int rank, int64_t now_bytes, int64_t most_bytes);

/* What this rank's run took and what one with defaults may take, on the simulated clock. */
void simulation_time(int rank, int64_t ran_ns, int64_t budget_ns);

#endif
