/*
 * What must be true of a program whatever it is given. Either a command line, an environment and a
 * job are accepted, and then all values survive being sent to another rank; or they are refused in
 * one line that names what is wrong.
 */
#ifndef COMMCOST_TESTS_BAD_INPUT_JUDGE_H
#define COMMCOST_TESTS_BAD_INPUT_JUDGE_H

#include "programs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS_MAX 32
#define VARIABLES_MAX 16

struct line {
    char *words[WORDS_MAX + 1]; /* the first is the program's name; NULL at the end */
    int count;
    struct {
        char *name, *value;
    } variables[VARIABLES_MAX];
    size_t variable_count;
};

/* The job that the line is for. */
struct job {
    int ranks;
    int thread_level;
    bool oversubscribed;
    int64_t memory_per_rank, shared_memory_per_rank;
};

/* A job of one process to a million, with any memory; always the same for a number. */
struct job job_with(uint64_t number);

/* Gives the line to the program. If something is not as it must be, says so on stderr and returns
   false. */
bool judge(const struct bc_program *program, const struct line *line, const struct job *job);

#endif
