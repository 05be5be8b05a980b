/*
 * What bench_compare reads: launches, rows and values, the limits, and damage of
 * every kind, also at random: refused or read, but nothing else.
 */
#include "helpers.h"

#include "run_scripts/bench_compare/compare.h"
#include "run_scripts/bench_compare/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD                                                                                       \
    "# benchmark: bench\n"                                                                         \
    "# schema: 1\n"                                                                                \
    "# columns: name=key size=key time_us=less rate=more note=info "                               \
    "status=info\n"                                                                                \
    "name\tsize\ttime_us\trate\tnote\tstatus\n"
#define MERGED_HEAD                                                                                \
    "# benchmark: bench\n"                                                                         \
    "# columns: run=key name=key size=key time_us=less\n"                                          \
    "run\tname\tsize\ttime_us\n"

struct fixture {
    char folder[64];
    struct results *results;
    struct bc_error error;
    size_t files;
};

static int set_up(void **state)
{
    struct fixture *const f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/commcost_test_results.XXXXXX");
    f->results = results_create();
    *state = f;
    return mkdtemp(f->folder) == NULL || f->results == NULL;
}

static int tear_down(void **state)
{
    struct fixture *const f = *state;
    char path[128];
    for (size_t i = 0; i < f->files; i++) {
        snprintf(path, sizeof path, "%s/%zu.tsv", f->folder, i);
        unlink(path);
    }
    const int left = rmdir(f->folder);
    results_free(f->results);
    free(f);
    return left;
}

static const char *write_file(struct fixture *f, const char *bytes, size_t count)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%zu.tsv", f->folder, f->files++);
    FILE *const stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    fclose(stream);
    return path;
}

static bool add(struct fixture *f, enum side side, const char *text)
{
    return results_add(f->results, side, write_file(f, text, strlen(text)), &f->error);
}

static void assert_refused(struct fixture *f, const char *text, const char *named)
{
    struct results *const results = results_create();
    assert_false(results_add(results, BASE, write_file(f, text, strlen(text)), &f->error));
    if (strstr(f->error.text, named) == NULL)
        fail_msg("\"%s\" doesn't say \"%s\"", f->error.text, named);
    results_free(results);
}

static void values_of_launches(void **state)
{
    struct fixture *const f = *state;
    assert_true(add(f, BASE, HEAD "put\t8\t1.5\t2e6\tx\tok\nput\t64\t3\tNA\tx\tok\n"));
    assert_true(add(f, BASE, HEAD "put\t8\t1.25\t1e6\tx\tok\n"));
    assert_true(add(f, NEW, HEAD "put\t64\t4\t5\tx\tok\nget\t8\t1\t1\tx\tFAIL\n"));
    assert_true(results_finish(f->results, &f->error));
    const struct results *const r = f->results;
    assert_int_equal(r->schema_count, 1);
    assert_string_equal(r->schemas[0].benchmark, "bench");
    assert_int_equal(r->schemas[0].key_count, 2);
    assert_string_equal(r->schemas[0].keys[1], "size");
    assert_int_equal(r->series_count, 6);
    assert_int_equal(r->launches[BASE], 2);
    assert_int_equal(r->launches[NEW], 1);
    const struct series *const s = r->series;
    assert_string_equal(s[0].quantity, "time_us");
    assert_string_equal(s[0].keys[0], "put");
    assert_string_equal(s[0].keys[1], "8");
    assert_false(s[0].more);
    assert_true(s[1].more);
    assert_int_equal(s[0].sides[BASE].count, 2);
    assert_near(s[0].sides[BASE].values[0], 1.5, 0.0);
    assert_near(s[0].sides[BASE].values[1], 1.25, 0.0);
    assert_int_equal(s[0].sides[NEW].count, 0);
    assert_int_equal(s[0].sides[NEW].launches, 0);
    /* NA: the launch has the row, but no value. */
    assert_int_equal(s[3].sides[BASE].launches, 1);
    assert_int_equal(s[3].sides[BASE].count, 0);
    assert_int_equal(s[3].sides[NEW].count, 1);
    assert_int_equal(s[4].sides[NEW].failed, 1);
    assert_int_equal(s[4].sides[NEW].count, 0);
    assert_int_equal(r->warning_count, 0);
}

static void runs_of_a_file(void **state)
{
    struct fixture *const f = *state;
    assert_true(add(f, BASE,
                    MERGED_HEAD "1\tput\t8\t1\n2\tput\t8\t2\n1\tput\t64\t9\n"
                                "a b\tput\t8\t3\n"));
    assert_true(results_finish(f->results, &f->error));
    assert_int_equal(f->results->launches[BASE], 3);
    assert_int_equal(f->results->schemas[0].key_count, 2);
    assert_int_equal(f->results->series[0].sides[BASE].count, 3);
    assert_int_equal(f->results->series[1].sides[BASE].count, 1);
}

/* The same launch by itself and among others; the same run twice in two files; two
   runs of one file that happen to be equal are two. */
static void a_launch_counts_once(void **state)
{
    struct fixture *const f = *state;
    assert_true(add(f, BASE, MERGED_HEAD "1\tput\t8\t1\n2\tput\t8\t1\n"));
    assert_true(add(f, BASE, MERGED_HEAD "1\tput\t8\t1\n2\tput\t8\t1\n"));
    assert_true(add(f, BASE,
                    "# benchmark: bench\n"
                    "# columns: name=key size=key time_us=less\n"
                    "name\tsize\ttime_us\nput\t8\t1\n"));
    assert_true(add(f, NEW, MERGED_HEAD "1\tput\t8\t1\n"));
    assert_true(results_finish(f->results, &f->error));
    assert_int_equal(f->results->launches[BASE], 2);
    assert_int_equal(f->results->launches[NEW], 1);
    assert_int_equal(f->results->series[0].sides[BASE].count, 2);
    assert_int_equal(f->results->warning_count, 1);
}

static void repeated_rows_are_one_value(void **state)
{
    struct fixture *const f = *state;
    assert_true(add(f, BASE,
                    HEAD "a\t8\t5\t1\tx\tok\na\t8\t1\tNA\tx\tok\n"
                         "a\t8\t2\tNA\tx\tok\n"));
    assert_true(results_finish(f->results, &f->error));
    assert_int_equal(f->results->series[0].sides[BASE].count, 1);
    assert_near(f->results->series[0].sides[BASE].values[0], 2.0, 0.0);
    assert_near(f->results->series[1].sides[BASE].values[0], 1.0, 0.0);
}

/* A launch without its end, or that ended for another reason than a wrong row, doesn't
   count, whether or not rows are missing. */
static void incomplete_does_not_count(void **state)
{
    struct fixture *const f = *state;
#define WITH_STATUS                                                                                \
    "# benchmark: bench\n# schema: 2\n# columns: name=key us=less status=info\n"                   \
    "name\tus\tstatus\n"
#define SECOND "# benchmark: bench\n# schema: 2\n# columns: name=key us=less\nname\tus\n"
    assert_true(add(f, BASE, SECOND "a\t1\nb\t2\n# end: 2 rows, exit 0\n"));
    assert_true(add(f, BASE, SECOND "a\t3\n# end: 1 row, exit 0"));
    assert_true(add(f, BASE,
                    WITH_STATUS "a\t3\tok\nb\t3\tFAIL\n"
                                "# end: 2 rows, exit 1\n"));
    assert_true(add(f, NEW, SECOND "a\t1\nb\t2\n"));
    assert_true(add(f, NEW, SECOND "a\t4\n# end: 1 row, exit 0\nb\t2\n"));
    assert_true(add(f, NEW, SECOND "a\t5\n# end: \n"));
    assert_true(add(f, NEW,
                    SECOND "a\t6\n# warning: interrupted by SIGTERM\n"
                           "# end: 1 row, exit 1\n"));
    assert_true(add(f, NEW, SECOND));
    assert_true(add(f, NEW, SECOND "a\t1\n# end: 1 row, exit 1\n"));
    assert_true(add(f, NEW, WITH_STATUS "a\t1\tok\n# end: 1 row, exit 1\n"));
    assert_true(results_finish(f->results, &f->error));
    const struct results *const r = f->results;
    assert_int_equal(r->launches[BASE], 3);
    assert_int_equal(r->incomplete[BASE], 0);
    assert_int_equal(r->launches[NEW], 0);
    assert_int_equal(r->incomplete[NEW], 7);
    assert_int_equal(r->series[0].sides[BASE].count, 3);
    assert_int_equal(r->series[0].sides[NEW].launches, 0);
}

static void other_schemas_are_apart(void **state)
{
    struct fixture *const f = *state;
    assert_true(add(f, BASE, HEAD "a\t8\t5\t1\tx\tok\n"));
    assert_true(add(f, NEW,
                    "# benchmark: bench\n# columns: name=key time_us=less\n"
                    "name\ttime_us\na\t5\n"));
    assert_true(add(f, NEW,
                    "# benchmark: other\n# columns: name=key time_us=less\n"
                    "name\ttime_us\na\t5\n"));
    assert_true(results_finish(f->results, &f->error));
    assert_int_equal(f->results->schema_count, 3);
    assert_int_equal(f->results->series_count, 4);
}

static void damage_is_named(void **state)
{
    struct fixture *const f = *state;
    assert_refused(f, "", "no header row");
    assert_refused(f, "x", "no '# columns:'");
    assert_refused(f, HEAD "a\t8\n", "line 5: 2 cells");
    assert_refused(f, HEAD "a\t8\tx\t1\tx\tok\n", "line 5: 'x' in the column time_us");
    assert_refused(f, HEAD "a\t8\t\t1\tx\tok\n", "no number");
    assert_refused(f, HEAD "a\t8\tnan\t1\tx\tok\n", "no number");
    assert_refused(f, HEAD "a\t8\t0x10\t1\tx\tok\n", "no number");
    assert_refused(f, HEAD "a\t8\t1\t1\tx\tok\n" HEAD, "a second result");
    assert_refused(f, "# columns: a\n", "isn't a name");
    assert_refused(f, "# columns: a=key a=less\n", "twice");
    assert_refused(f, "# benchmark: x\n# columns: a=key b=less\nb\n1\n", "lacks the key 'a'");
    assert_refused(f, "# schema: 7\n", "schema '7'");
    char *const nul = strdup(HEAD "a\t8\t1\t1\tx\tok\n");
    const size_t length = strlen(nul);
    nul[length - 3] = '\0';
    assert_false(results_add(f->results, BASE, write_file(f, nul, length), &f->error));
    assert_non_null(strstr(f->error.text, "a byte of 0"));
    free(nul);
    assert_false(results_add(f->results, BASE, "/nonexistent", &f->error));
    assert_false(results_add(f->results, BASE, "/dev/zero", &f->error));
    assert_false(results_add(f->results, BASE, "/dev/urandom", &f->error));
    assert_false(results_add(f->results, BASE, f->folder[0] ? "/proc/self/mem" : "", &f->error));
}

static void long_lines(void **state)
{
    struct fixture *const f = *state;
    const size_t head = strlen(HEAD), most = RESULTS_LINE_MAX;
    char *const text = malloc(head + most + 64);
    assert_non_null(text);
    /* A key of nearly all that a line may have. */
    const size_t room = most - strlen("\t8\t1\t1\tx\tok");
    memcpy(text, HEAD, head);
    memset(text + head, 'k', room);
    strcpy(text + head + room, "\t8\t1\t1\tx\tok\n");
    assert_true(add(f, BASE, text));
    memset(text + head, 'k', room + 1);
    strcpy(text + head + room + 1, "\t8\t1\t1\tx\tok\n");
    assert_refused(f, text, "line 5: longer than");
    free(text);
}

static void all_that_is_asked_for_at_random(void **state)
{
    struct fixture *const f = *state;
    static const char *const words[] = {"# columns: ",
                                        "# benchmark: ",
                                        "name=key",
                                        " ",
                                        "\t",
                                        "\n",
                                        "\r\n",
                                        "NA",
                                        "1",
                                        "-1e300",
                                        "run",
                                        "=less",
                                        "status",
                                        "FAIL",
                                        "#",
                                        "\xff",
                                        "put\t8\t",
                                        "=",
                                        "name\tsize\ttime_us\trate\tnote\tstatus\n",
                                        "run=key "};
    struct random random = random_from(9);
    size_t taken = 0;
    for (int trial = 0; trial < 3000; trial++) {
        char text[4096] = "";
        if (trial % 4 != 0)
            strcpy(text,
                   trial % 4 == 1 ? MERGED_HEAD "1\tput\t8\t1\n" : HEAD "a\t8\t5\t1\tx\tok\n");
        for (size_t changes = random_below(&random, 6); changes > 0; changes--) {
            const char *const word = words[random_below(&random, sizeof words / sizeof *words)];
            const size_t length = strlen(text), more = strlen(word);
            const size_t at = random_below(&random, length + 1);
            memmove(text + at + more, text + at, length - at + 1);
            memcpy(text + at, word, more);
            if (random_below(&random, 3) == 0 && at + 2 < length)
                memmove(text + at, text + at + 2, strlen(text + at + 2) + 1);
        }
        struct results *const results = results_create();
        const char *const path = write_file(f, text, strlen(text));
        struct comparison comparison = {.count = 0};
        const struct limits limits = {0.01, 5.0, 0.95};
        if (results_add(results, BASE, path, &f->error) &&
            results_add(results, NEW, path, &f->error) && results_finish(results, &f->error)) {
            compare(&comparison, results, &limits);
            taken++;
        } else {
            assert_true(f->error.text[0] != '\0');
            assert_null(strchr(f->error.text, '\n'));
        }
        free(comparison.changes);
        results_free(results);
    }
    assert_in_range(taken, 100, 2900);
}

#define RESULTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    RESULTS_TEST(values_of_launches),
    RESULTS_TEST(runs_of_a_file),
    RESULTS_TEST(a_launch_counts_once),
    RESULTS_TEST(repeated_rows_are_one_value),
    RESULTS_TEST(incomplete_does_not_count),
    RESULTS_TEST(other_schemas_are_apart),
    RESULTS_TEST(damage_is_named),
    RESULTS_TEST(long_lines),
    RESULTS_TEST(all_that_is_asked_for_at_random),
};
const struct test_program test_program = {.name = "results", .tests = tests, .count = COUNT(tests)};
