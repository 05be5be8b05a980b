/* SPDX-License-Identifier: BSD-3-Clause */
/* overlap_halo without MPI: the boxes that fit into memory. */
#include "command_line.h"

#include "common/halo_swap/box.h"

#include <stdlib.h>
#include <string.h>

extern const struct bc_program overlap_halo_program;

#define MIB 1048576.0

/* Reads the words, with memory for `max_bytes` a rank. Returns the value of --local, freed by the
   caller; NULL, with the error set, if the words are refused. */
static char *boxes_of(double max_bytes, const char *const *words, struct bc_error *error)
{
    char *argv[WORDS_MAX];
    const int argc = make_arguments(argv, words);
    struct bc_run run;
    prepare(&run, &overlap_halo_program);
    run.job.ranks = 2;
    run.job.memory_per_rank = run.job.shared_memory_per_rank =
        (int64_t)(max_bytes / BC_MEMORY_SHARE);
    error->text[0] = '\0';
    char *text = NULL;
    if (bc_run_accept(&run, argc, argv, no_variable, error))
        text = bc_option_text(bc_options_find(&run.options, "local"), true);
    bc_run_release(&run);
    return text;
}

/* Default boxes that don't fit are left out, except the first one. Other boxes are refused. */
TEST(boxes_that_fit)
{
    static const struct {
        double max_bytes;
        const char *word, *kept, *error;
    } cases[] = {
        {64 * MIB, NULL, "10,50,100", ""},
        {5 * MIB, NULL, "10,50", ""},
        {1 * MIB, NULL, "10", ""},
        {1000.0, NULL, NULL, "--local: 10x10x10 needs 0.0 MiB a rank"},
        {5 * MIB, "--local=10,50,100", NULL, "--local: 100x100x100 needs"},
        {5 * MIB, "--local=10,50,100", NULL, "use at most 8"},
        {1.0, "--local=10", NULL, "use fewer processes a node"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bc_error error;
        char *const text = boxes_of(cases[i].max_bytes, WORDS(cases[i].word), &error);
        if (cases[i].kept != NULL)
            assert_string_equal(text, cases[i].kept);
        else
            assert_null(text);
        assert_non_null(strstr(error.text, cases[i].error));
        free(text);
    }
}
