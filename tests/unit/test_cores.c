/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processors are hardware threads of one core, on made-up systems.
 */
#include "common/job/cores.h"

#include "made_up_files.h"

#include <errno.h>

/* Makes a processor that is online, with the list of the processors of its core in file `name`. */
static void put_processor(int processor, const char *name, const char *list)
{
    char path[64], text[64];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/%s", processor, name);
    snprintf(text, sizeof text, "%s\n", list);
    put(path, text);
}

/* `expected` are the cores of the first `processors` processors, -1 where none is known. */
static void assert_cores(int count, const int *expected, int processors)
{
    static struct bc_cores cores;
    bc_cores_read(&cores);
    assert_int_equal(cores.count, count);
    for (int i = 0; i < processors; i++)
        assert_int_equal(cores.of[i], expected[i]);
}

/* The cores of a set of processors. */
static void assert_core_set(const int *processors, int count, const int *expected, int cores_count)
{
    static struct bc_cores cores;
    struct bc_processors set = {0};
    for (int i = 0; i < count; i++)
        bc_processors_add(&set, processors[i]);
    bc_cores_read(&cores);
    const struct bc_processors found = bc_cores_of(&cores, &set);
    assert_int_equal(bc_processors_count(&found), cores_count);
    for (int i = 0; i < cores_count; i++)
        assert_true(bc_processors_have(&found, expected[i]));
}

TEST(nothing_is_known)
{
    assert_cores(0, (int[]){-1, -1}, 2);
    put("sys/devices/system/cpu/cpu0/online", "1\n");
    put_processor(1, "core_cpus_list", "what");
    put_processor(2, "core_cpus_list", "99999");
    assert_cores(0, (int[]){-1, -1, -1}, 3);
    assert_core_set((int[]){0, 2}, 2, (int[]){0, 2}, 2); /* each counts as a core then */
}

/* A set of the system's may have more processors than a cpu_set_t, which the system then refuses.
 */
static int processors_of_system;

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    if (8 * size < (size_t)processors_of_system) {
        errno = EINVAL;
        return -1;
    }
    memset(set, 0, size);
    for (int i = 0; i < processors_of_system; i += 7)
        CPU_SET_S((size_t)i, size, set);
    return 0;
}

TEST(many_processors)
{
    static const int systems[] = {7, 700, 1024, 1025, 4096, 8192};
    for (size_t i = 0; i < COUNT(systems); i++) {
        struct bc_processors found, more = {0};
        processors_of_system = systems[i];
        assert_true(bc_processors_read(&found));
        assert_int_equal(bc_processors_count(&found), (systems[i] + 6) / 7);
        assert_true(bc_processors_have(&found, (systems[i] - 1) / 7 * 7));
        bc_processors_add(&more, (systems[i] - 1) / 7 * 7);
        assert_true(bc_processors_cover(&found, &more));
        bc_processors_add(&more, 8191);
        assert_int_equal(bc_processors_cover(&found, &more), systems[i] == 8192 && 8191 % 7 == 0);
        bc_processors_join(&found, &more);
        assert_true(bc_processors_cover(&found, &more));
    }
    put("sys/devices/system/cpu/possible", "0-5001\n");
    put_processor(5000, "core_cpus_list", "5000-5001");
    put_processor(5001, "core_cpus_list", "5000-5001");
    assert_core_set((int[]){5000, 5001}, 2, (int[]){5000}, 1);
}

TEST(a_thread_a_core)
{
    put_processor(0, "core_cpus_list", "0");
    put_processor(1, "core_cpus_list", "1");
    put_processor(11, "core_cpus_list", "11");
    put("sys/devices/system/cpu/cpufreq/boost", "1\n");
    assert_cores(3, (int[]){0, 1, -1}, 3);
}

TEST(two_threads_a_core)
{
    /* As Intel numbers them ... */
    for (int i = 0; i < 4; i++)
        put_processor(i, "core_cpus_list", i % 2 == 0 ? "0,2" : "1,3");
    assert_cores(2, (int[]){0, 1, 0, 1, -1}, 5);
    /* ... and one after the other; the older name counts if the newer one is missing. */
    for (int i = 4; i < 8; i++)
        put_processor(i, "thread_siblings_list", i < 6 ? "4-5" : "6-7");
    assert_cores(4, (int[]){0, 1, 0, 1, 4, 4, 6, 6, -1}, 9);
    put_processor(4, "core_cpus_list", "4");
    put_processor(5, "core_cpus_list", "5");
    assert_cores(5, (int[]){0, 1, 0, 1, 4, 5, 6, 6, -1}, 9);
}

/* An offline processor has no topology and is in no list. Two processors are of one core if their
   lists begin alike. */
TEST(offline_processors)
{
    put("sys/devices/system/cpu/cpu0/online", "0\n");
    put_processor(1, "core_cpus_list", "1,3");
    put_processor(2, "core_cpus_list", "2");
    put_processor(3, "core_cpus_list", "1,3");
    assert_cores(2, (int[]){-1, 1, 2, 1}, 4);
    put_processor(2, "core_cpus_list", "0,2,4");
    put_processor(4, "core_cpus_list", "0,2,4");
    assert_cores(2, (int[]){-1, 1, 0, 1, 0}, 5);
}

TEST(cores_of_a_mask)
{
    for (int i = 0; i < 4; i++)
        put_processor(i, "core_cpus_list", i % 2 == 0 ? "0,2" : "1,3");
    assert_core_set((int[]){0, 2}, 2, (int[]){0}, 1); /* siblings alone */
    assert_core_set((int[]){0, 2, 3}, 3, (int[]){0, 1}, 2);
    assert_core_set(NULL, 0, NULL, 0);
}

/* This machine's cores have all processors that are online, if they are known. */
TEST(here)
{
    static struct bc_cores cores;
    int online = 0;
    system_root = "";
    bc_cores_read(&cores);
    for (int i = 0; i < BC_PROCESSORS_MAX; i++)
        online += cores.of[i] >= 0;
    if (online == 0)
        skip();
    assert_int_equal(online, sysconf(_SC_NPROCESSORS_ONLN));
    assert_in_range(cores.count, 1, online);
}

const struct test_program test_program = {.before_each = make_folder, .after_each = remove_folder};
