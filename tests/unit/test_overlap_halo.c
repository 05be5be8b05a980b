/*
 * overlap_halo without MPI: the boxes that fit into memory.
 */
#include "command_line.h"

#include "common/halo_swap/box.h"

#include <stdlib.h>
#include <string.h>

extern const struct bc_program overlap_halo_program;

#define MIB 1048576.0

/* Reads the words, with memory for `max_bytes` a rank. The value of --local then; NULL, with the
   error set, if they were refused. The caller frees it. */
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

TEST(default_boxes)
{
    static const struct {
        double max_bytes;
        const char *kept;
    } cases[] = {{64 * MIB, "10,50,100"}, {5 * MIB, "10,50"}, {1 * MIB, "10"}};
    struct bc_error error;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *const text = boxes_of(cases[i].max_bytes, WORDS(NULL), &error);
        assert_string_equal(error.text, "");
        assert_string_equal(text, cases[i].kept);
        free(text);
    }
    /* Not even the first one. */
    assert_null(boxes_of(1000.0, WORDS(NULL), &error));
    assert_non_null(strstr(error.text, "--local: 10x10x10 needs 0.0 MiB a rank"));
}

TEST(boxes_that_were_asked_for)
{
    struct bc_error error;
    assert_null(boxes_of(5 * MIB, WORDS("--local=10,50,100"), &error));
    assert_non_null(strstr(error.text, "--local: 100x100x100 needs"));
    assert_non_null(strstr(error.text, "use at most 8"));
    assert_null(boxes_of(1.0, WORDS("--local=10"), &error));
    assert_non_null(strstr(error.text, "use fewer processes a node"));
}
