/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What control groups leave: made-up ones, of both versions.
 */
#include "common/job/limits.h"

#include "made_up_files.h"

static void assert_left(int64_t bytes) { assert_int_equal(bc_memory_available(), bytes); }

TEST(no_limit)
{
    assert_left(INT64_MAX);
    put("proc/self/cgroup", "0::/user.slice\n");
    assert_left(INT64_MAX);
    put("sys/fs/cgroup/user.slice/memory.max", "max\n");
    put("sys/fs/cgroup/user.slice/memory.current", "5000\n");
    assert_left(INT64_MAX);
    put("proc/self/cgroup", "what\nis: this\n:\n::\n0::\n");
    assert_left(INT64_MAX);
}

/* The limit less the memory that is in use, without the pages of files. */
TEST(version_2)
{
    put("proc/self/cgroup", "1:name=systemd:/x\n0::/job\n");
    put("sys/fs/cgroup/job/memory.max", "10000\n");
    put("sys/fs/cgroup/job/memory.current", "4000\n");
    assert_left(6000);
    put("sys/fs/cgroup/job/memory.stat", "anon 1000\ninactive_file 1500\nactive_file 500\n");
    assert_left(8000);
    put("sys/fs/cgroup/job/memory.current", "13000\n");
    assert_left(0);
    put("sys/fs/cgroup/job/memory.stat", "inactive_file 99999\nactive_file 0\n");
    assert_left(10000);
}

/* A limit of any group above counts; containers show theirs as the topmost one. */
TEST(groups_above)
{
    put("proc/self/cgroup", "0::/job/step/task\n");
    put("sys/fs/cgroup/job/memory.max", "10000\n");
    put("sys/fs/cgroup/job/memory.current", "1000\n");
    assert_left(9000);
    put("sys/fs/cgroup/job/step/task/memory.max", "20000\n");
    put("sys/fs/cgroup/job/step/task/memory.current", "1000\n");
    assert_left(9000);
    put("sys/fs/cgroup/memory.max", "7000\n");
    put("sys/fs/cgroup/memory.current", "0\n");
    assert_left(7000);
    put("proc/self/cgroup", "0::/\n");
    assert_left(7000);
    put("proc/self/cgroup", "0::/elsewhere/not/here\n");
    assert_left(7000);
}

TEST(version_1)
{
    put("proc/self/cgroup", "5:cpu,cpuacct:/slurm\n4:hugetlb,memory:/slurm/job\n0::/\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "123456\n");
    put("sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "50000\n");
    put("sys/fs/cgroup/memory/slurm/job/memory.usage_in_bytes", "30000\n");
    put("sys/fs/cgroup/memory/slurm/job/memory.stat",
        "inactive_file 1\ntotal_inactive_file 6000\ntotal_active_file 4000\n");
    assert_left(30000);
    /* Both versions at once. */
    put("sys/fs/cgroup/unified/memory.max", "20000\n");
    put("sys/fs/cgroup/unified/memory.current", "1000\n");
    assert_left(19000);
    /* Other controllers have no memory. */
    put("proc/self/cgroup", "5:cpu:/slurm/job\n4:memory_not,not_memory:/slurm/job\n");
    assert_left(INT64_MAX);
}

/* The node's available memory counts if it is less. */
TEST(memory_of_the_node)
{
    put("proc/meminfo", "MemTotal:  100 kB\nMemAvailable:   8 kB\n");
    assert_left(8192);
    put("proc/self/cgroup", "0::/job\n");
    put("sys/fs/cgroup/job/memory.max", "9000\n");
    put("sys/fs/cgroup/job/memory.current", "0\n");
    assert_left(8192);
    put("sys/fs/cgroup/job/memory.current", "1000\n");
    assert_left(8000);
}

TEST(here)
{
    system_root = "";
    const int64_t bytes = bc_memory_available();
    assert_true(bytes > (int64_t)1 << 20);
    assert_true(bytes < (int64_t)1 << 50);
}

const struct test_program test_program = {.before_each = make_folder, .after_each = remove_folder};
