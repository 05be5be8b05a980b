/* SPDX-License-Identifier: BSD-3-Clause */
/* Data and ranks of pingpong: sweeps and arrangements; and the sizes that
   fit into memory. */
#include "command_line.h"

#include "pingpong/pingpong.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern const struct bc_program pingpong_program;

/* Writes the shapes of a sweep and returns their number. */
static int all_shapes(enum pingpong_sweep sweep, const struct pingpong_limits *limits,
                      struct pingpong_shape *shapes)
{
    int count = 0;
    while (pingpong_shape_at(sweep, limits, count, &shapes[count]))
        count++;
    return count;
}

/* Full sweeps; thinned ones, of every eighth size, the smallest and the largest among them, with no
   stride left out; and with a limit on blocks, which leaves out the sweeps' ends and nothing else.
 */
TEST(sweeps)
{
    static const struct pingpong_limits full = {1, 4 << 20, 128, 2, 0, {0}},
                                        thinned = {1, 1 << 10, 8, 8, 0, {0}},
                                        from_16 = {16, 1 << 10, 8, 8, 0, {0}},
                                        few = {1, 1 << 10, 8, 8, 64, {0}},
                                        beyond = {1, 1 << 10, 8, 8, 1 << 20, {0}};
    static const struct {
        const struct pingpong_limits *limits;
        enum pingpong_sweep sweep;
        int shapes;                /* of the sweep */
        int at;                    /* the number of one of them */
        struct pingpong_shape one; /* which is this */
        int64_t ndata, nextent;
    } cases[] = {
        {&full, PINGPONG_CONTIGUOUS, 23, 0, {1, 1, 1}, 1, 1},
        {&full, PINGPONG_CONTIGUOUS, 23, 10, {1, 1024, 1}, 1024, 1024},
        {&full, PINGPONG_CONTIGUOUS, 23, 22, {1, 4194304, 1}, 4194304, 4194304},
        {&full, PINGPONG_MANY, 23, 0, {1, 4194304, 1}, 4194304, 4194304},
        {&full, PINGPONG_MANY, 23, 1, {2, 2097152, 2097152}, 4194304, 4194304},
        {&full, PINGPONG_MANY, 23, 22, {4194304, 1, 1}, 4194304, 4194304},
        {&full, PINGPONG_STRIDED, 8, 0, {32768, 1, 1}, 32768, 32768},
        {&full, PINGPONG_STRIDED, 8, 7, {32768, 1, 128}, 32768, 32767 * 128 + 1},
        {&full, PINGPONG_STRIDED_MANY, 23, 0, {1, 4194304, 1}, 4194304, 4194304},
        {&full, PINGPONG_STRIDED_MANY, 23, 1, {2, 2097152, 4194304}, 4194304, 6291456},
        {&full, PINGPONG_STRIDED_MANY, 23, 22, {4194304, 1, 2}, 4194304, 8388607},
        {&thinned, PINGPONG_CONTIGUOUS, 5, 0, {1, 1, 1}, 1, 1},
        {&thinned, PINGPONG_CONTIGUOUS, 5, 1, {1, 8, 1}, 8, 8},
        {&thinned, PINGPONG_CONTIGUOUS, 5, 2, {1, 64, 1}, 64, 64},
        {&thinned, PINGPONG_CONTIGUOUS, 5, 3, {1, 512, 1}, 512, 512},
        {&thinned, PINGPONG_CONTIGUOUS, 5, 4, {1, 1024, 1}, 1024, 1024},
        {&thinned, PINGPONG_MANY, 5, 3, {512, 2, 2}, 1024, 1024},
        {&thinned, PINGPONG_STRIDED, 4, 3, {128, 1, 8}, 128, 127 * 8 + 1},
        {&from_16, PINGPONG_CONTIGUOUS, 3, 1, {1, 128, 1}, 128, 128},
        {&from_16, PINGPONG_MANY, 5, 3, {512, 2, 2}, 1024, 1024},
        {&few, PINGPONG_CONTIGUOUS, 5, 4, {1, 1024, 1}, 1024, 1024},
        {&few, PINGPONG_STRIDED, 4, 3, {128, 1, 8}, 128, 127 * 8 + 1},
        {&few, PINGPONG_MANY, 3, 0, {1, 1024, 1}, 1024, 1024},
        {&few, PINGPONG_MANY, 3, 2, {64, 16, 16}, 1024, 1024},
        {&few, PINGPONG_STRIDED_MANY, 3, 2, {64, 16, 32}, 1024, 63 * 32 + 16},
        {&beyond, PINGPONG_MANY, 5, 3, {512, 2, 2}, 1024, 1024},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pingpong_shape shapes[64];
        assert_int_equal(all_shapes(cases[i].sweep, cases[i].limits, shapes), cases[i].shapes);
        const struct pingpong_shape *const found = &shapes[cases[i].at];
        assert_int_equal(found->count, cases[i].one.count);
        assert_int_equal(found->blksize, cases[i].one.blksize);
        assert_int_equal(found->stride, cases[i].one.stride);
        assert_int_equal(pingpong_ndata(found), cases[i].ndata);
        assert_int_equal(pingpong_nextent(found), cases[i].nextent);
    }
}

/* In any limits every shape of a sweep moves exactly ndata values, within the extent that is
   allocated for it. */
TEST(shapes_fit)
{
    for (int64_t ndata = 1; ndata <= 4096; ndata *= 2)
        for (int64_t stride = 1; stride <= 8192; stride *= 4)
            for (int64_t step = 2; step <= 8; step *= 4)
                for (int sweep = 0; sweep <= PINGPONG_STRIDED_MANY; sweep++) {
                    const struct pingpong_limits limits = {1, ndata, stride, step, 0, {0}};
                    struct pingpong_shape shapes[64];
                    const int count = all_shapes((enum pingpong_sweep)sweep, &limits, shapes);
                    assert_true(count > 0);
                    for (int i = 0; i < count; i++) {
                        int64_t moved = 0;
                        const int64_t extent = pingpong_nextent(&shapes[i]);
                        for (int64_t j = 0; j < extent; j++)
                            moved += pingpong_moves(&shapes[i], j);
                        assert_int_equal(moved, pingpong_ndata(&shapes[i]));
                        assert_true(extent <= 2 * ndata);
                        assert_true(pingpong_moves(&shapes[i], 0));
                        assert_true(pingpong_moves(&shapes[i], extent - 1));
                    }
                }
}

/* A rank is its partner's partner, one rank of a pair starts, and none is left out. */
TEST(arrangements_pair_up)
{
    for (int arrangement = 0; arrangement < PINGPONG_ARRANGEMENTS; arrangement++)
        for (int ranks = 2; ranks <= 16; ranks++) {
            assert_int_equal(pingpong_can_arrange(arrangement, ranks),
                             arrangement == PINGPONG_SINGLE || (ranks >= 4 && ranks % 2 == 0));
            if (!pingpong_can_arrange(arrangement, ranks))
                continue;
            int idle = 0;
            for (int rank = 0; rank < ranks; rank++) {
                const struct pingpong_part part = pingpong_part_of(arrangement, rank, ranks);
                idle += part.partner < 0;
                if (part.partner < 0)
                    continue;
                const struct pingpong_part other =
                    pingpong_part_of(arrangement, part.partner, ranks);
                assert_int_equal(other.partner, rank);
                assert_true(other.starts != part.starts);
                const bool first = rank < part.partner;
                if (arrangement == PINGPONG_CROSSING)
                    assert_true(part.starts == (first == (rank % (ranks / 2) % 2 == 0)));
                else
                    assert_true(part.starts == first);
                assert_int_equal(first ? part.partner - rank : rank - part.partner,
                                 arrangement == PINGPONG_SINGLE ? ranks - 1 : ranks / 2);
            }
            assert_int_equal(idle, arrangement == PINGPONG_SINGLE ? ranks - 2 : 0);
        }
}

/* Reads the words of a run of 4 MiB a rank for windows. The largest number of values then, as text;
   or, where they were refused, the error. */
static const char *largest_of(const char *const *words)
{
    enum { MEMORY = 5 << 20 }; /* of which pingpong takes four fifths */
    static char text[BC_ERROR_LENGTH];
    char *argv[WORDS_MAX];
    const int argc = make_arguments(argv, words);
    struct bc_run run;
    struct bc_error error = {""};
    prepare(&run, &pingpong_program);
    run.job.ranks = 2;
    run.job.memory_per_rank = run.job.shared_memory_per_rank = MEMORY;
    const bool good = bc_run_accept(&run, argc, argv, no_variable, &error);
    char *const value = bc_option_text(bc_options_find(&run.options, "max-ndata"), true);
    (void)snprintf(text, sizeof text, "%s", good ? value : error.text);
    free(value);
    bc_run_release(&run);
    return text;
}

/* 256 Ki values are 2 MiB. New buffers need three times as much beside the coarray. */
TEST(sizes_that_fit)
{
    assert_string_equal(largest_of(WORDS("--patterns=put")), "262144");
    assert_string_equal(largest_of(WORDS("--patterns=put", "--max-ndata=1M")),
                        "--max-ndata: coarrays for 1048576 values need 8.0 MiB a rank, and 4.0 fit "
                        "into memory or /dev/shm: use --max-ndata=262144 or less");
    assert_string_equal(largest_of(WORDS("--patterns=put", "--buffers=new")), "65536");
    assert_non_null(strstr(largest_of(WORDS("--patterns=put", "--buffers=new", "--max-ndata=128K")),
                           "use --max-ndata=65536 or less"));
}
