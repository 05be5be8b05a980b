/* SPDX-License-Identifier: BSD-3-Clause */
/* The note on progress: rows that count, and judgements. */
#include "helpers.h"
#include "streams.h"

#include "common/result/writer.h"
#include "overlap/engine/result.h"

#include <unistd.h>

#define REFERENCE_NS 100e3
#define MIB 1048576.0

static const struct bc_style tsv = {.program = "overlap_test"};
static const struct bc_table no_columns = {.count = 0};

static const struct op_kind kind = {.name = "kind"};

static struct overlap_state no_rows(void)
{
    return (struct overlap_state){.parameters = {.kind = &kind}};
}

/* Adds a row that takes reference_ns, of which exposed_ns aren't hidden. */
static void add_times(struct overlap_state *overlap, const struct overlap_row *row,
                      double reference_ns, double exposed_ns)
{
    const struct overlap_result result = {.reference.value = reference_ns,
                                          .reference.interval.lo = 0.9 * reference_ns,
                                          .gain.exposed.value = exposed_ns};
    overlap_progress_add(&overlap->progress, row, &result);
}

/* Adds a row of which this share is hidden under work. */
static void add(struct overlap_state *overlap, const struct overlap_row *row, double hidden_pct)
{
    add_times(overlap, row, REFERENCE_NS, REFERENCE_NS * (1.0 - hidden_pct / 100.0));
}

/* Returns the line of the note, or "". */
static const char *note(const struct overlap_state *overlap)
{
    static char text[512];
    char path[TEMPORARY_PATH_MAX];
    make_temporary(path);
    struct bc_output *const output = bc_output_open(path, &tsv, &no_columns);
    assert_non_null(output);
    overlap_progress_note(overlap, output);
    (void)bc_output_close(output);
    (void)read_text(path, text, sizeof text);
    assert_int_equal(unlink(path), 0);
    return text;
}

/* ---- the judgement --------------------------------------------------------------------------- */

/* Rows in any order, and the note. */
TEST(judgements)
{
    static const struct {
        struct {
            double size_bytes;
            int64_t calls;
            double hidden_pct;
        } rows[5];        /* a size of 0 ends them */
        const char *note; /* a part of it */
    } cases[] = {
        {{{MIB, 0, 90}},
         "# note: asynchronous progress: work hides 90 % of an operation of 1048576 bytes\n"},
        /* Calls that hide more change nothing. */
        {{{MIB, 0, 90}, {MIB, 4, 99}}, "asynchronous progress: "},
        /* From a half on. */
        {{{MIB, 0, 49.9}}, "note: some asynchronous progress: "},
        /* By the number of calls that hides most, wherever its row is. */
        {{{MIB, 1, 30}, {MIB, 0, 5}, {MIB, 16, 95}, {MIB, 64, 60}},
         "# note: progress in calls only: work hides 5 % of an operation of 1048576 bytes, 95 % "
         "with 16 calls of MPI_Test\n"},
        {{{MIB, 0, 10}, {MIB, 4, 29.9}},
         "# note: little or no progress before the wait: work hides 10 % of an operation of "
         "1048576 bytes, 30 % with 4 calls of MPI_Test\n"},
        {{{MIB, 0, 10}, {MIB, 8, 30.1}}, "progress in calls only: "}, /* 20 points more */
        {{{MIB, 0, 3}},
         "# note: little or no progress before the wait: work hides 3 % of an operation of 1048576 "
         "bytes: try --test-calls=0,4,16\n"},
        {{{MIB, 0, 21}, {MIB, 1, 45}}, "note: some asynchronous progress, more in calls: "},
        {{{MIB, 0, 21}, {MIB, 1, 45}}, "1048576 bytes, 45 % with 1 call of MPI_Test\n"},
        {{{MIB, 0, 21}, {MIB, 1, 25}}, "note: some asynchronous progress: "},
        /* Where more is exposed than the operation takes alone. */
        {{{MIB, 0, -30}, {MIB, 4, -20}},
         " work hides 0 % of an operation of 1048576 bytes, 0 % with 4 calls"},
        {{{MIB, 0, -30}, {MIB, 4, -20}}, "little or no progress before the wait: "},
        /* Only large messages count, and only with a row without calls. */
        {{{8, 0, 90}, {OVERLAP_LARGE_BYTES - 8, 0, 90}}, ""},
        {{{8, 0, 90}, {OVERLAP_LARGE_BYTES, 0, 90}}, "asynchronous progress"},
        {{{MIB, 4, 90}}, ""},
        /* The largest size counts. */
        {{{MIB, 0, 10}, {MIB / 2, 0, 90}}, "little or no progress"},
        {{{MIB, 0, 10}, {MIB, 4, 90}, {2 * MIB, 0, 21}},
         "some asynchronous progress: work hides 21 % of an operation of 2097152 bytes"},
        {{{0, 0, 0}}, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct overlap_state overlap = no_rows();
        for (size_t r = 0; cases[i].rows[r].size_bytes > 0.0; r++) {
            const struct overlap_row row = {.size_bytes = cases[i].rows[r].size_bytes,
                                            .test_calls = cases[i].rows[r].calls};
            add(&overlap, &row, cases[i].rows[r].hidden_pct);
        }
        const char *const found = note(&overlap);
        if (strstr(found, cases[i].note) == NULL ||
            (found[0] == '\0') != (cases[i].note[0] == '\0'))
            fail_msg("case %zu: '%s' is not in '%s'", i, cases[i].note, found);
    }
}

/* A search for the best number of calls has tried 0, too. */
TEST(searched)
{
    struct overlap_row row = {
        .size_bytes = MIB,
        .asked_test_calls = OVERLAP_AUTO,
        .test_calls = 16,
        .exposed_without_calls_ns = 0.9 * REFERENCE_NS,
    };
    struct overlap_state overlap = no_rows();
    add(&overlap, &row, 90.0);
    assert_string_equal(note(&overlap),
                        "# note: progress in calls only: work hides 10 % of "
                        "an operation of 1048576 bytes, 90 % with 16 calls of MPI_Test\n");
    row.test_calls = 0;
    overlap = no_rows();
    add(&overlap, &row, 10.0);
    assert_string_equal(note(&overlap),
                        "# note: little or no progress before the wait: work hides 10 % of an "
                        "operation of 1048576 bytes, no more with calls of MPI_Test\n");
}

static void serve(struct op_instance *operation) { (void)operation; }

TEST(partners_in_mpi_may_make_the_progress)
{
    static const struct op_kind served = {.name = "served", .serve = serve};
    struct overlap_state overlap = {.parameters = {.kind = &served}};
    const struct overlap_row row = {.size_bytes = MIB};
    add(&overlap, &row, 100.0);
    assert_non_null(
        strstr(note(&overlap), "note: progress by the library, or by the partner in MPI: "));
}

/* Of variants of one size, such as a halo exchange's methods, the first counts. */
TEST(one_variant_is_judged)
{
    static const int variants[2];
    struct overlap_state overlap = no_rows();
    struct overlap_row row = {.size_bytes = MIB, .choice.variant = &variants[0]};
    add(&overlap, &row, 0.0);
    row.choice.variant = &variants[1];
    row.test_calls = 4;
    add(&overlap, &row, 100.0);
    row.test_calls = 0;
    add(&overlap, &row, 100.0);
    assert_non_null(strstr(note(&overlap), " work hides 0 % of an operation of 1048576 bytes"));
    assert_null(strstr(note(&overlap), "with 4 calls"));
}

TEST(rows_without_a_time_dont_count)
{
    struct overlap_state overlap = no_rows();
    const struct overlap_row row = {.size_bytes = MIB};
    add_times(&overlap, &row, 0.0, 1e3);
    add_times(&overlap, &row, NAN, 1e3);
    add_times(&overlap, &row, REFERENCE_NS, NAN);
    assert_string_equal(note(&overlap), "");
}
