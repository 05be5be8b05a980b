/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo without MPI: numbers of boxes, grids, and the options. What is swapped --check shows
 * (tests/programs/halo_test.py).
 */
#include "command_line.h"

#include "halo/halo.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- boxes ----------------------------------------------------------------------------------- */

/* The largest cube fits into the memory, the next one doesn't; however much memory there is, the
   largest cube's array has at most 2^40 values. */
TEST(memory_of_a_box)
{
    const struct halo_box box = {{5, 3, 2}};
    assert_near(halo_needed_bytes(&box, true), 8.0 * (7 * 5 * 4 + 2 * 62), 0.0);
    /* Beyond what an int can count. */
    const struct halo_box large = {{40000, 50000, 2}};
    assert_int_equal(halo_array_values(&large), INT64_C(40002) * 50002 * 4);
    assert_int_equal(halo_ndata(&large), 2 * INT64_C(2000180000));
    assert_int_equal(halo_largest_cube(-1.0, true), 0);
    assert_int_equal(halo_largest_cube(8.0 * (27 + 12) - 1, true), 0);
    assert_int_equal(halo_largest_cube(8.0 * (27 + 12), true), 1);
    assert_int_equal(halo_largest_cube(1e300, true), 10319);
    assert_int_equal(halo_largest_cube(INFINITY, true), 10319);
    for (double bytes = 1e3; bytes < 1e12; bytes *= 1.7) {
        const int64_t a = halo_largest_cube(bytes, true);
        const struct halo_box fits = {{a, a, a}};
        const struct halo_box beyond = {{a + 1, a + 1, a + 1}};
        assert_true(halo_needed_bytes(&fits, true) <= bytes);
        assert_true(halo_needed_bytes(&beyond, true) > bytes);
    }
}

/* ---- options --------------------------------------------------------------------------------- */

extern const struct bc_program halo_program;

/* The parameters that these words of a command line set; free with bc_run_release. */
static struct halo_parameters *accepted(struct bc_run *run, int ranks, const char *const *words)
{
    struct bc_error error;
    if (!accept_words(run, &halo_program, ranks, words, &error))
        fail_msg("refused: %s", error.text);
    return run->own->state;
}

static void assert_refused(int ranks, const char *option, const char *value)
{
    struct bc_run run;
    struct bc_error error;
    assert_false(accept_words(&run, &halo_program, ranks, WORDS(option, value), &error));
    assert_non_null(strstr(error.text, option));
    assert_non_null(strstr(error.text, "use "));
    bc_run_release(&run);
}

static void assert_boxes(const char *const *words, const struct halo_box *expected, int count)
{
    struct bc_run run;
    const struct halo_parameters *const parameters = accepted(&run, 1, words);
    assert_int_equal(parameters->local.count, count);
    for (int i = 0; i < count; i++)
        for (int d = 0; d < HALO_DIRECTIONS; d++)
            assert_int_equal(parameters->local.boxes[i].extent[d], expected[i].extent[d]);
    bc_run_release(&run);
}

TEST(lists_of_boxes)
{
    assert_boxes(
        WORDS(NULL),
        (struct halo_box[]){{{10, 10, 10}}, {{50, 50, 50}}, {{100, 100, 100}}, {{150, 150, 150}}},
        4);
    assert_boxes(WORDS("--local", "10,50,100x20x30"),
                 (struct halo_box[]){{{10, 10, 10}}, {{50, 50, 50}}, {{100, 20, 30}}}, 3);
    assert_boxes(WORDS("--local", "1Kx1x2"), (struct halo_box[]){{{1024, 1, 2}}}, 1);
    assert_boxes(WORDS("--local", "46340x46340x1"), (struct halo_box[]){{{46340, 46340, 1}}}, 1);
    const char *const *const wrong =
        WORDS("", "x", "10x", "10x20", "10x20x30x40", "10,", ",10", "10x x1", "-1", "0", "1x0x1",
              "1x1x1.5", "3x3x3x", "99999999999", "1x1x9223372036854775808", "10320",
              "122167x122167x1000", "122167958640x1x1");
    for (size_t i = 0; wrong[i] != NULL; i++)
        assert_refused(1, "--local", wrong[i]);
    /* The array, two values larger in each direction, may have at most 2^40 values. */
    assert_boxes(WORDS("--local", "122167958639x1x1"),
                 (struct halo_box[]){{{INT64_C(122167958639), 1, 1}}}, 1);
    assert_boxes(WORDS("--local", "10319"), (struct halo_box[]){{{10319, 10319, 10319}}}, 1);
    assert_boxes(WORDS("--local", "1x50000x60000"), (struct halo_box[]){{{1, 50000, 60000}}}, 1);
    char long_list[2 * HALO_BOXES_MAX + 2] = "1";
    for (int i = 0; i < HALO_BOXES_MAX; i++)
        memcpy(long_list + 1 + (ptrdiff_t)2 * i, ",1", 3);
    assert_refused(1, "--local", long_list);
}

/* Of the default boxes those that need more than `bytes` must be left out. The other ranks, which
   get the kept boxes as text, must have the same number. */
static void assert_kept(double bytes, int count, const char *kept, const char *left_out)
{
    struct bc_run run, other;
    struct halo_parameters *const p = accepted(&run, 1, WORDS(NULL));
    halo_shorten_boxes(&p->local, bytes);
    assert_int_equal(p->local.count, count);
    assert_string_equal(p->local.text, kept);
    if (left_out == NULL)
        assert_null(p->local.left_out);
    else
        assert_string_equal(p->local.left_out, left_out);
    assert_int_equal(accepted(&other, 1, WORDS("--local", p->local.text))->local.count, count);
    bc_run_release(&run);
    bc_run_release(&other);
}

TEST(boxes_that_fit)
{
    assert_kept(INFINITY, 4, "10,50,100,150", NULL);
    assert_kept(halo_needed_bytes(&(struct halo_box){{150, 150, 150}}, true), 4, "10,50,100,150",
                NULL);
    assert_kept(16 << 20, 3, "10,50,100", "150");
    assert_kept(5 << 20, 2, "10,50", "100,150");
    assert_kept(1 << 20, 1, "10", "50,100,150");
    assert_kept(0, 1, "10", "50,100,150");
}

/* Numbers that no int holds, and grids that aren't of this many processes. */
TEST(grids_that_are_refused)
{
    const char *const *const wrong =
        WORDS("6", "3x2x1x1", "3x2x2", "0x4x0", "3x-2x-1", "3x2x", "12x0x0", "99999999999x0x0",
              "4294967297x6x1", "3037000500x3037000500x3037000500");
    for (size_t i = 0; wrong[i] != NULL; i++)
        assert_refused(6, "--dims", wrong[i]);
}
