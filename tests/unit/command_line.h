/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a benchmark makes of a command line, without starting it.
 */
#ifndef COMMCOST_TESTS_UNIT_COMMAND_LINE_H
#define COMMCOST_TESTS_UNIT_COMMAND_LINE_H

#include "helpers.h"

#include "common/run/internal.h"

#include <stdbool.h>
#include <stddef.h>

/* bc_run_prepare, with a state for it: a test has two runs at most at a time. */
static inline void prepare(struct bc_run *run, const struct bc_program *program)
{
    static _Alignas(max_align_t) char states[2][1 << 16];
    static int prepared;
    assert_true(program->state_bytes <= sizeof *states);
    bc_run_prepare(run, program, states[prepared++ % 2]);
}

/* Prepares a run and gives it the words, in a job of `ranks` processes with any memory and without
   variables. False with the error set. Free with bc_run_release in either case. */
static inline bool accept_words(struct bc_run *run, const struct bc_program *program, int ranks,
                                const char *const *words, struct bc_error *error)
{
    char *argv[WORDS_MAX];
    const int argc = make_arguments(argv, words);
    error->text[0] = '\0';
    prepare(run, program);
    run->job.ranks = ranks;
    run->job.memory_per_rank = run->job.shared_memory_per_rank = INT64_MAX;
    const bool good = bc_run_accept(run, argc, argv, no_variable, error);
    assert_true(good == (error->text[0] == '\0'));
    return good;
}

#endif
