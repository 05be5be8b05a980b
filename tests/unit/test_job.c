/*
 * What a job says about itself; run on 2 and on 4 ranks of one machine.
 *
 * Collective calls come first, checks afterwards (see test_sampling.c).
 */
#include "helpers.h"

#include "common/job.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int rank, ranks;
static cpu_set_t all_processors; /* that this rank could run on at start */

/* ---- texts --------------------------------------------------------------- */

static void ranks_as_ranges(void **state)
{
    (void)state;
    static const struct {
        int ranks[8];
        size_t count;
        const char *text;
    } cases[] = {
        {{0}, 0, ""},
        {{0}, 1, "0"},
        {{7}, 1, "7"},
        {{0, 1}, 2, "0-1"},
        {{0, 2}, 2, "0,2"},
        {{0, 1, 2, 3, 8}, 5, "0-3,8"},
        {{0, 4, 8, 12}, 4, "0-12/4"},
        {{1, 3, 5}, 3, "1-5/2"},
        {{0, 5, 6, 7}, 4, "0,5-7"},
        {{0, 1, 5, 6}, 4, "0-1,5-6"},
        {{3, 1000000, 2147483647}, 3, "3,1000000,2147483647"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[64];
        const size_t length = bc_format_ranks(cases[i].ranks, cases[i].count,
                                              text, sizeof text);
        if (cases[i].count == 0) { /* nothing to write */
            assert_int_equal(length, 0);
            continue;
        }
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(cases[i].text));
    }
}

static void ranges_are_cut_to_the_size(void **state)
{
    (void)state;
    static const int numbers[] = {0, 1, 2, 3, 10, 20, 30, 100, 1000};
    static const char whole[] = "0-3,10-30/10,100,1000";
    for (size_t size = 0; size <= sizeof whole + 2; size++) {
        char text[64];
        memset(text, 'x', sizeof text);
        const size_t length = bc_format_ranks(numbers, COUNT(numbers),
                                              size > 0 ? text : NULL, size);
        assert_int_equal(length, sizeof whole - 1);
        assert_true(text[size] == 'x');
        if (size == 0)
            continue;
        const size_t expected = size <= length ? size - 1 : length;
        assert_int_equal(strlen(text), expected);
        assert_memory_equal(text, whole, expected);
    }
}

/* The ranks that a text stands for. */
static size_t expand(const char *text, int *numbers)
{
    size_t count = 0;
    while (*text != '\0') {
        char *end;
        const long first = strtol(text, &end, 10);
        long last = first, step = 1;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (*end == '/')
            step = strtol(end + 1, &end, 10);
        for (long number = first; number <= last; number += step)
            numbers[count++] = (int)number;
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

static void ranges_say_what_was_written(void **state)
{
    (void)state;
    struct random random = random_from(8);
    for (int trial = 0; trial < 20000; trial++) {
        int numbers[64], back[256];
        size_t count = 0;
        const size_t gap = 1 + random_below(&random, 4);
        for (int number = 0; count < 40 && number < 120; number++)
            if (random_below(&random, gap + 1) == 0 ||
                (trial % 3 == 0 && number % (int)(gap + 1) == 0))
                numbers[count++] = number;
        if (count == 0)
            continue;
        char text[512];
        const size_t length =
            bc_format_ranks(numbers, count, text, sizeof text);
        assert_int_equal(length, strlen(text));
        assert_int_equal(expand(text, back), count);
        assert_memory_equal(numbers, back, count * sizeof *numbers);
    }
}

/* ---- the job ------------------------------------------------------------- */

static void all_ranks_are_on_this_host(void **state)
{
    (void)state;
    struct bc_job job;
    bc_job_describe(&job);
    const int64_t memory = bc_job_memory_per_rank(&job);
    int64_t least, most;
    MPI_Allreduce(&memory, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&memory, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    int node_ranks, node_rank;
    MPI_Comm_size(job.node_comm, &node_ranks);
    MPI_Comm_rank(job.node_comm, &node_rank);
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Get_processor_name(name, &length);
    char hosts[MPI_MAX_PROCESSOR_NAME + 64];
    snprintf(hosts, sizeof hosts, "%s: 0-%d", name, ranks - 1);
    const bool hosts_good =
        rank == 0 ? job.hosts != NULL && strcmp(job.hosts, hosts) == 0
                  : job.hosts == NULL;
    const bool binding_good = (job.binding != NULL) == (rank == 0);
    const struct bc_job copy = job;
    bc_job_free(&job);

    assert_int_equal(copy.rank, rank);
    assert_int_equal(copy.ranks, ranks);
    assert_int_equal(copy.nodes, 1);
    assert_int_equal(copy.node, 0);
    assert_int_equal(copy.least_per_node, ranks);
    assert_int_equal(copy.most_per_node, ranks);
    assert_int_equal(node_ranks, ranks);
    assert_int_equal(node_rank, rank);
    assert_true(hosts_good);
    assert_true(binding_good);
    assert_true(least == most);
    assert_true(memory > 0);
    const int64_t installed =
        (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    assert_true(memory <= installed / ranks);
}

/* ---- processors ---------------------------------------------------------- */

/* The processor that is `index`-th of those that this rank may have. */
static int processor_number(int index)
{
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET((size_t)processor, &all_processors) && index-- == 0)
            return processor;
    return -1;
}

/* What is found when this rank is bound to `count` processors from the
   `first`-th on. Collective. */
struct finding {
    bool oversubscribed;
    int least_processors;
    char binding[256];
};

static struct finding describe_bound(int first, int count)
{
    cpu_set_t mask;
    struct finding finding = {.binding = ""};
    CPU_ZERO(&mask);
    for (int i = first; i < first + count; i++)
        CPU_SET((size_t)processor_number(i), &mask);
    if (sched_setaffinity(0, sizeof mask, &mask) != 0)
        finding.least_processors = -1;
    struct bc_job job;
    bc_job_describe(&job);
    if (finding.least_processors == 0)
        finding.least_processors = job.least_processors;
    finding.oversubscribed = job.oversubscribed;
    if (job.binding != NULL)
        snprintf(finding.binding, sizeof finding.binding, "%s", job.binding);
    bc_job_free(&job);
    sched_setaffinity(0, sizeof all_processors, &all_processors);
    return finding;
}

static void ranks_on_one_processor_share_it(void **state)
{
    (void)state;
    const struct finding finding = describe_bound(0, 1);
    assert_true(finding.oversubscribed);
    assert_int_equal(finding.least_processors, 1);
    char binding[64];
    snprintf(binding, sizeof binding, "each rank: %d", processor_number(0));
    if (rank == 0)
        assert_string_equal(finding.binding, binding);
}

static void two_ranks_of_many_on_one_processor(void **state)
{
    (void)state;
    /* The last two ranks share a processor, the others have all; enough
       processors in all for every rank, where the machine has them. */
    const int processors = CPU_COUNT(&all_processors);
    const bool bound = rank >= ranks - 2;
    const struct finding finding =
        describe_bound(0, bound ? 1 : processors);
    assert_true(finding.oversubscribed);
}

static void more_ranks_than_processors(void **state)
{
    (void)state;
    const int processors = CPU_COUNT(&all_processors);
    const int fewer = ranks - 1 < processors ? ranks - 1 : processors;
    const struct finding finding = describe_bound(0, fewer);
    assert_true(finding.oversubscribed);
    assert_int_equal(finding.least_processors, fewer);
}

static void a_processor_each_is_enough(void **state)
{
    (void)state;
    const int processors = CPU_COUNT(&all_processors);
    if (processors < ranks)
        skip();
    const struct finding own = describe_bound(rank, 1);
    const struct finding common = describe_bound(0, ranks);
    /* One rank may have more, as long as the other's is left to it. */
    const struct finding nested =
        describe_bound(0, rank == 0 ? 1 : ranks);
    assert_false(own.oversubscribed);
    assert_int_equal(own.least_processors, ranks);
    assert_false(common.oversubscribed);
    assert_false(nested.oversubscribed);
    if (rank != 0 || ranks != 2)
        return;
    char binding[64];
    snprintf(binding, sizeof binding, "0: %d; 1: %d", processor_number(0),
             processor_number(1));
    assert_string_equal(own.binding, binding);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0 && freopen("/dev/null", "w", stdout) == NULL)
        return 1;
    /* All processors that there are: launchers may have bound the ranks. */
    cpu_set_t every;
    memset(&every, 0xff, sizeof every);
    sched_setaffinity(0, sizeof every, &every);
    sched_getaffinity(0, sizeof all_processors, &all_processors);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_as_ranges),
        cmocka_unit_test(ranges_are_cut_to_the_size),
        cmocka_unit_test(ranges_say_what_was_written),
        cmocka_unit_test(all_ranks_are_on_this_host),
        cmocka_unit_test(ranks_on_one_processor_share_it),
        cmocka_unit_test(two_ranks_of_many_on_one_processor),
        cmocka_unit_test(more_ranks_than_processors),
        cmocka_unit_test(a_processor_each_is_enough),
    };
    int failures = cmocka_run_group_tests_name("job", tests, NULL, NULL);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
