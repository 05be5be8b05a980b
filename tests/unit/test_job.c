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

static int rank, ranks;
static cpu_set_t all_processors; /* that this rank could run on at start */

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
