/*
 * Command lines, environments and jobs by a seed: good ones, ones with a single fault,
 * and ones that are anything. They are made from a program's own table of options.
 */
#ifndef COMMCOST_TESTS_BAD_INPUT_LINES_H
#define COMMCOST_TESTS_BAD_INPUT_LINES_H

#include "judge.h"

/* Random numbers: SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
   Generators", OOPSLA 2014). */
struct random {
    uint64_t state;
};

/* From 0 to count - 1. */
uint64_t random_below(struct random *random, uint64_t count);

/* Makes a line for the options, whose values must be the defaults. A tame line names no file
   outside of the working folder, and its good values are small, so that a run with them ends
   soon. */
void line_make(struct line *line, const struct bc_options *options, bool tame,
               struct random *random);

void line_free(struct line *line);

/* A job of one process to a million, with any memory. */
struct job job_make(struct random *random);

#endif
