/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Description of a job of 2 ranks or more on one machine.
 */
#include "made_up_files.h"
#include "ranks.h"

#include "common/job/job.h"
#include "common/job/limits.h"

#include <sched.h>

static cpu_set_t all_processors; /* that this rank could run on at start */

/* ---- jobs on made-up systems ----------------------------------------------------------------- */

/* The number of the `index`-th processor that this rank may run on, counted from 0. */
static int processor_number(int index)
{
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET((size_t)processor, &all_processors) && index-- == 0)
            return processor;
    return -1;
}

/* On which this rank runs; -1: not known. */
static int last_processor = -1;

int sched_getcpu(void) { return last_processor; }

/* The jobs of a test, which are freed after it. */
static struct bc_job jobs[8];
static int job_count;

static int free_jobs(void **state)
{
    while (job_count > 0)
        bc_job_free(&jobs[--job_count]);
    return 0;
}

/* The job when this rank is bound to `count` processors from the `first`-th on, and the system's
   files are in `root`. Collective. */
static struct bc_job describe_in(const char *root, int first, int count)
{
    cpu_set_t mask;
    struct bc_job *const job = &jobs[job_count++];
    CPU_ZERO(&mask);
    for (int i = first; i < first + count; i++)
        CPU_SET((size_t)processor_number(i), &mask);
    const int bound = sched_setaffinity(0, sizeof mask, &mask);
    system_root = root;
    bc_job_describe(job);
    system_root = "";
    sched_setaffinity(0, sizeof all_processors, &all_processors);
    if (bound != 0)
        job->min_processors = -1;
    return *job;
}

/* The same without quotas, and where nothing is known of cores. */
static struct bc_job describe_bound(int first, int count)
{
    return describe_in("/no/such/folder", first, count);
}

/* ---- the job --------------------------------------------------------------------------------- */

TEST(all_ranks_are_on_this_host)
{
    struct bc_job job = describe_bound(0, CPU_COUNT(&all_processors));
    bc_job_find_memory(&job);
    const int64_t memory = job.memory_per_rank;
    const bool same_memory = same_everywhere(memory);
    const int64_t installed = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int node_ranks, node_rank, length;
    char name[MPI_MAX_PROCESSOR_NAME], hosts[MPI_MAX_PROCESSOR_NAME + 64];
    MPI_Comm_size(job.node_comm, &node_ranks);
    MPI_Comm_rank(job.node_comm, &node_rank);
    MPI_Get_processor_name(name, &length);
    snprintf(hosts, sizeof hosts, "%s: 0-%d", name, ranks - 1);
    assert_int_equal(job.rank, rank);
    assert_int_equal(job.ranks, ranks);
    assert_int_equal(job.nodes, 1);
    assert_int_equal(job.host_names, rank == 0);
    assert_int_equal(job.node, 0);
    assert_int_equal(job.min_per_node, ranks);
    assert_int_equal(job.max_per_node, ranks);
    assert_int_equal(node_ranks, ranks);
    assert_int_equal(node_rank, rank);
    assert_true(same_memory);
    assert_in_range(memory, 1, installed / ranks);
    if (rank == 0)
        assert_string_equal(job.hosts, hosts);
    assert_true((job.hosts != NULL) == (rank == 0) && (job.binding != NULL) == (rank == 0));
}

/* ---- processors ------------------------------------------------------------------------------ */

TEST(ranks_on_one_processor_share_it)
{
    const struct bc_job finding = describe_bound(0, 1);
    assert_true(finding.oversubscribed);
    assert_int_equal(finding.min_processors, 1);
    char binding[64];
    snprintf(binding, sizeof binding, "each rank: %d", processor_number(0));
    if (rank == 0)
        assert_string_equal(finding.binding, binding);
}

TEST(too_few_processors)
{
    const int processors = CPU_COUNT(&all_processors);
    const int fewer = ranks - 1 < processors ? ranks - 1 : processors;
    /* The last two ranks share a processor, the others have all. */
    const struct bc_job two = describe_bound(0, rank >= ranks - 2 ? 1 : processors);
    const struct bc_job all = describe_bound(0, fewer);
    assert_true(two.oversubscribed);
    assert_true(all.oversubscribed);
    assert_int_equal(all.min_processors, fewer);
}

TEST(a_processor_each_is_enough)
{
    const int processors = CPU_COUNT(&all_processors);
    if (processors < ranks)
        skip();
    const struct bc_job own = describe_bound(rank, 1);
    const struct bc_job common = describe_bound(0, ranks);
    /* One rank may have more, as long as the other's is left to it. */
    const struct bc_job nested = describe_bound(0, rank == 0 ? 1 : ranks);
    assert_false(own.oversubscribed);
    assert_int_equal(own.min_processors, ranks);
    assert_false(common.oversubscribed);
    assert_false(nested.oversubscribed);
    if (rank != 0 || ranks != 2)
        return;
    char binding[64];
    snprintf(binding, sizeof binding, "0: %d; 1: %d", processor_number(0), processor_number(1));
    assert_string_equal(own.binding, binding);
}

/* ---- cores ----------------------------------------------------------------------------------- */

/* Makes a folder, the same on all ranks. Collective. */
static void share_folder(void)
{
    if (rank == 0)
        (void)make_folder(NULL);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* The same on a system whose files are below the folder, which is removed then. Collective. */
static struct bc_job describe_system(const char *root, int first, int count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const struct bc_job finding = describe_in(root, first, count);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        (void)remove_folder(NULL);
    return finding;
}

/* Describes the job when this rank is bound to `count` processors from the `first`-th on and ran on
   `last`. `lists` are the lists of cores, one for each processor and one for a processor more.
   Collective. */
static struct bc_job describe_on_cores(const char *const *lists, int first, int count, int last)
{
    share_folder();
    const int beyond = processor_number(CPU_COUNT(&all_processors) - 1) + 1;
    for (int i = 0; rank == 0 && lists[i] != NULL; i++) {
        char name[80];
        snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%d/topology/core_cpus_list",
                 lists[i + 1] == NULL ? beyond : processor_number(i));
        put(name, lists[i]);
    }
    last_processor = last;
    const struct bc_job finding = describe_system(folder, first, count);
    last_processor = -1;
    return finding;
}

/* Two ranks, two processors; the last list is of one more, which isn't theirs. */
TEST(ranks_on_hardware_threads)
{
    if (ranks != 2 || CPU_COUNT(&all_processors) < 2)
        skip();
    const int a = processor_number(0), b = processor_number(1);
    const int beyond = processor_number(CPU_COUNT(&all_processors) - 1) + 1;
    const char *const one_each[] = {"0", "1", "2", NULL};
    const char *const one_core[] = {"0", "0", "1", NULL};
    const char *const last_with_first[] = {"0", "1", "0", NULL};
    const struct bc_job apart = describe_on_cores(one_each, rank, 1, rank == 0 ? a : b);
    const struct bc_job bound = describe_on_cores(one_core, rank, 1, rank == 0 ? a : b);
    const struct bc_job free_ones = describe_on_cores(one_core, 0, 2, a);
    /* On one processor, which has a warning of its own. */
    const struct bc_job shared = describe_on_cores(one_core, 0, 1, a);
    const struct bc_job ran = describe_on_cores(last_with_first, 0, 2, rank == 0 ? a : beyond);
    const struct bc_job moved = describe_on_cores(last_with_first, 0, 2, rank == 0 ? b : beyond);
    const struct bc_job unknown = describe_on_cores((const char *const[]){NULL}, rank, 1, a);
    assert_null(apart.shared_cores);
    assert_null(unknown.shared_cores);
    assert_null(shared.shared_cores);
    assert_null(moved.shared_cores);
    assert_true(shared.oversubscribed);
    assert_false(bound.oversubscribed);
    if (rank != 0) {
        assert_null(bound.shared_cores);
        return;
    }
    assert_int_equal(apart.cores, 3);
    assert_int_equal(bound.cores, 2);
    assert_int_equal(unknown.cores, 0);
    assert_string_equal(bound.shared_cores, "ranks 0-1 have to share 1 core");
    assert_string_equal(free_ones.shared_cores, "ranks 0-1 have to share 1 core");
    char text[160];
    snprintf(text, sizeof text, "ranks 0 and 1 began on one core (processors %d, %d)", a, beyond);
    assert_string_equal(ran.shared_cores, text);
}

/* ---- quotas of control groups ---------------------------------------------------------------- */

/* Describes the job with all processors when each rank is in a group of its own (`own`), with a
   quota of `processors`, or all ranks are in one. Collective. */
static struct bc_job describe_with_quota(bool own, double processors)
{
    char name[64], text[64], root[96], groups[96], own_groups[128];
    share_folder();
    const int group = own ? rank : 0;
    snprintf(root, sizeof root, "%s/%d", folder, rank);
    snprintf(name, sizeof name, "%d/proc/self/cgroup", rank);
    snprintf(text, sizeof text, "0::/group%d\n", group);
    put(name, text);
    snprintf(groups, sizeof groups, "%s/sys", folder);
    snprintf(own_groups, sizeof own_groups, "%s/sys", root);
    assert_int_equal(symlink(groups, own_groups), 0);
    snprintf(name, sizeof name, "sys/fs/cgroup/group%d/cpu.max", group);
    snprintf(text, sizeof text, "%.0f 100000\n", 1e5 * processors);
    if (own || rank == 0)
        put(name, text);
    return describe_system(root, 0, CPU_COUNT(&all_processors));
}

/* Checks a quota that is too small, with this text, and a sufficient one. */
static void check_quotas(bool own, double little, double enough, const char *text)
{
    const int processors = CPU_COUNT(&all_processors);
    const int allowed = (int)(own ? little * ranks : little);
    const struct bc_job exceeded = describe_with_quota(own, little);
    const struct bc_job kept = describe_with_quota(own, enough);
    assert_true(exceeded.oversubscribed);
    assert_int_equal(exceeded.min_processors, processors);
    assert_int_equal(exceeded.min_allowed_processors, allowed < processors ? allowed : processors);
    if (rank == 0)
        assert_string_equal(exceeded.exceeded_quota, text);
    else
        assert_null(exceeded.exceeded_quota);
    assert_int_equal(kept.oversubscribed, ranks > processors);
    assert_null(kept.exceeded_quota);
}

TEST(ranks_share_a_quota)
{
    char text[128];
    snprintf(text, sizeof text,
             "the control group's quota of %.1f processors (cpu.max) is for %d ranks", ranks - 0.5,
             ranks);
    check_quotas(false, ranks - 0.5, ranks, text);
}

/* As in containers of their own. */
TEST(each_rank_has_a_quota)
{
    check_quotas(true, 0.75, 1.0,
                 "the control group's quota of 0.75 processors (cpu.max) is for 1 rank");
}

/* Lets this rank run on all processors that there are: launchers may have bound it. */
static void unbind(void)
{
    cpu_set_t every;
    memset(&every, 0xff, sizeof every);
    sched_setaffinity(0, sizeof every, &every);
    sched_getaffinity(0, sizeof all_processors, &all_processors);
}

const struct test_program test_program = {.mpi = true, .set_up = unbind, .after_each = free_jobs};
