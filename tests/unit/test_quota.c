/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quotas of processors: made-up control groups of both versions, and ranks in one group,
 * in groups of their own and in groups below one with a quota.
 */
#include "common/job/limits.h"

#include "made_up_files.h"

#include <math.h>

/* The quotas of a process whose /proc/self/cgroup has this text. */
static struct bc_quotas quotas_of(const char *membership)
{
    struct bc_quotas quotas;
    put("proc/self/cgroup", membership);
    bc_quotas_read(&quotas);
    return quotas;
}

static void assert_quotas(const char *membership, int count, const double *processors)
{
    const struct bc_quotas quotas = quotas_of(membership);
    assert_int_equal(quotas.count, count);
    for (int i = 0; i < count; i++)
        assert_float_equal(quotas.of[i].processors, processors[i], 1e-9);
}

TEST(no_quota)
{
    struct bc_quotas quotas;
    bc_quotas_read(&quotas);
    assert_int_equal(quotas.count, 0);
    assert_quotas("0::/a\n", 0, NULL);
    put("sys/fs/cgroup/a/cpu.max", "max 100000\n");
    assert_quotas("0::/a\n", 0, NULL);
    const char *const odd[] = {"",           "\n",          "100000\n",   "x 100000\n",
                               "0 100000\n", "-1 100000\n", "100000 0\n", "100000 x\n"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        put("sys/fs/cgroup/a/cpu.max", odd[i]);
        assert_quotas("0::/a\n", 0, NULL);
    }
    assert_quotas("what\n::\n:\n0::\n", 0, NULL);
}

TEST(version_2)
{
    put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    assert_quotas("0::/a\n", 1, (double[]){1.5});
    assert_int_equal(quotas_of("0::/a\n").of[0].version, 2);
    assert_string_equal(bc_quota_file(&quotas_of("0::/a\n").of[0]), "cpu.max");
    /* Groups above count, too, up to the top, where a container has its own quota. */
    put("sys/fs/cgroup/a/b/c/cpu.max", "50000 20000\n");
    put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_quotas("0::/a/b/c\n", 2, (double[]){2.5, 1.5});
    put("sys/fs/cgroup/cpu.max", "75000 100000\n");
    assert_quotas("0::/a/b/c\n", 3, (double[]){2.5, 1.5, 0.75});
    assert_quotas("0::/\n", 1, (double[]){0.75});
    assert_quotas("0::/not/seen/here\n", 1, (double[]){0.75});
}

TEST(version_1)
{
    put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    assert_quotas("3:cpu:/job\n", 0, NULL);
    put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
    assert_quotas("3:cpu:/job\n0::/\n", 1, (double[]){2.0});
    assert_string_equal(bc_quota_file(&quotas_of("3:cpu:/job\n").of[0]), "cpu.cfs_quota_us");
    assert_quotas("3:cpuset:/job\n", 0, NULL);
    /* Mounted by the name of both controllers, or by both names: one quota. */
    assert_quotas("3:cpu,cpuacct:/job\n", 1, (double[]){2.0});
    put("sys/fs/cgroup/cpu,cpuacct/step/cpu.cfs_quota_us", "50000\n");
    put("sys/fs/cgroup/cpu,cpuacct/step/cpu.cfs_period_us", "100000\n");
    assert_quotas("3:cpu,cpuacct:/step\n", 1, (double[]){0.5});
    char target[128], path[128];
    snprintf(target, sizeof target, "%s/sys/fs/cgroup/cpu,cpuacct", folder);
    snprintf(path, sizeof path, "%s/sys/fs/cgroup/cpuacct,cpu", folder);
    assert_int_equal(symlink(target, path), 0);
    put("sys/fs/cgroup/cpu,cpuacct/step/more/cpu.cfs_quota_us", "-1\n");
    assert_quotas("3:cpuacct,cpu:/step/more\n", 1, (double[]){0.5});
}

/* ---- ranks of a node ------------------------------------------------------------------------- */

static void assert_finding(const struct bc_quotas *quotas, int count, double processors, int ranks,
                           double exceeded)
{
    const struct bc_quota_finding finding = bc_quotas_judge(quotas, count);
    if (isinf(processors))
        assert_true(isinf(finding.processors));
    else
        assert_float_equal(finding.processors, processors, 1e-9);
    assert_int_equal(finding.ranks, ranks);
    if (ranks > 0)
        assert_float_equal(finding.exceeded.processors, exceeded, 1e-9);
}

/* Quotas of ranks, by the group that each is in: `a` has 2 processors, `b` 1, `c` 0.5, `d`
   none, `e` 1.5, and two groups below `job`, which has 3, have 2 each. */
TEST(ranks_of_groups)
{
    static const struct {
        const char *groups[4];
        int count;
        double processors; /* of all ranks together */
        int ranks;         /* of the exceeded quota; 0: none is exceeded */
        double exceeded;
    } cases[] = {
        {{"a", "a"}, 2, 2.0, 0, 0.0},
        {{"a", "a", "a"}, 3, 2.0, 3, 2.0},
        /* A fraction, rounded up, is too small for that number of ranks. */
        {{"e"}, 1, 1.5, 0, 0.0},
        {{"e", "e"}, 2, 1.5, 2, 1.5},
        /* As with a container for each rank; less than a processor for a single one. */
        {{"a", "b"}, 2, 3.0, 0, 0.0},
        {{"a", "b", "c"}, 3, 3.5, 1, 0.5},
        /* If a rank has no quota, their sum isn't limited. */
        {{"b", "d"}, 2, INFINITY, 0, 0.0},
        {{"c", "d"}, 2, INFINITY, 1, 0.5},
        /* The group above them has less than all of them. */
        {{"job/a", "job/b", "job/b"}, 3, 3.0, 0, 0.0},
        {{"job/a", "job/a", "job/b", "job/b"}, 4, 3.0, 4, 3.0},
        {{"job/a", "job/a", "job/a"}, 3, 2.0, 3, 2.0},
    };
    put("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    put("sys/fs/cgroup/b/cpu.max", "100000 100000\n");
    put("sys/fs/cgroup/c/cpu.max", "50000 100000\n");
    put("sys/fs/cgroup/e/cpu.max", "150000 100000\n");
    put("sys/fs/cgroup/job/cpu.max", "300000 100000\n");
    put("sys/fs/cgroup/job/a/cpu.max", "200000 100000\n");
    put("sys/fs/cgroup/job/b/cpu.max", "200000 100000\n");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bc_quotas quotas[4];
        for (int r = 0; r < cases[i].count; r++) {
            char membership[32];
            snprintf(membership, sizeof membership, "0::/%s\n", cases[i].groups[r]);
            quotas[r] = quotas_of(membership);
        }
        assert_finding(quotas, cases[i].count, cases[i].processors, cases[i].ranks,
                       cases[i].exceeded);
    }
}

/* A container sees its own group as the top, so ranks may see one group by different paths. */
TEST(one_group_by_two_paths)
{
    char group[128], path[128], inner[128];
    struct bc_quotas ranks[2];
    put("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
    ranks[0] = quotas_of("0::/a\n");
    put("inner/proc/self/cgroup", "0::/\n");
    put("inner/sys/fs/other", "");
    snprintf(group, sizeof group, "%s/sys/fs/cgroup/a", folder);
    snprintf(path, sizeof path, "%s/inner/sys/fs/cgroup", folder);
    assert_int_equal(symlink(group, path), 0);
    snprintf(inner, sizeof inner, "%s/inner", folder);
    system_root = inner;
    bc_quotas_read(&ranks[1]);
    system_root = folder;
    assert_int_equal(ranks[1].count, 1);
    assert_finding(ranks, 2, 1.0, 2, 1.0);
}

const struct test_program test_program = {.before_each = make_folder, .after_each = remove_folder};
