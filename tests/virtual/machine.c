/* SPDX-License-Identifier: BSD-3-Clause */
/* The virtual machine as programs see it: a processor for each rank, 16 GiB of memory, and nothing
   else in /proc and /sys. The linker sends the programs' calls here (--wrap). */
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include "common/expected/network.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker's names */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    static char memory[] = "MemAvailable: 16777216 kB\n";
    if (strcmp(path, "/proc/meminfo") == 0)
        return fmemopen(memory, sizeof memory - 1, mode);
    if (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0)
        return __real_fopen(path, mode);
    errno = ENOENT;
    return NULL;
}

int __wrap_sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *processors);
int __wrap_sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *processors)
{
    (void)process;
    memset(processors, 0, bytes);
    for (size_t i = 0; i < (size_t)parameters.ranks; i++)
        CPU_SET(i, processors);
    return 0;
}

/* Yielding to whatever else the real machine runs would take virtual time nowhere. */
int __wrap_sched_yield(void);
int __wrap_sched_yield(void) { return 0; }

int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void) { return -1; }

int __wrap_getrusage(int who, struct rusage *usage);
int __wrap_getrusage(int who, struct rusage *usage)
{
    (void)who;
    memset(usage, 0, sizeof *usage);
    return 0;
}

/* The rates of hardware (common/expected). */
struct bc_fastest_port __wrap_bc_find_fastest_port(const char *root);
struct bc_fastest_port __wrap_bc_find_fastest_port(const char *root)
{
    const char *rates = getenv("VIRTUAL_LINK_MBITS");
    (void)root;
    for (int node = node_of(world_rank); rates != NULL && node > 0; node--)
        rates = strchr(rates, ',') != NULL ? strchr(rates, ',') + 1 : NULL;
    return (struct bc_fastest_port){"planted", rates != NULL ? strtod(rates, NULL) : 0.0};
}

int64_t __wrap_bc_time_copy(char *to, const char *from, size_t bytes);
int64_t __wrap_bc_time_copy(char *to, const char *from, size_t bytes)
{
    const int64_t start_ns = clock_read_ns();
    memcpy(to, from, bytes);
    clock_spend(parameters.memcpy_byte_ns * (double)bytes);
    return clock_read_ns() - start_ns;
}

int __wrap_getentropy(void *buffer, size_t bytes);
int __wrap_getentropy(void *buffer, size_t bytes)
{
    uint64_t state = (uint64_t)parameters.seed * 31 + (uint64_t)(world->launch * world->ranks) +
                     (uint64_t)world_rank;
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)buffer)[i] = (unsigned char)(256.0 * world_random(&state));
    return 0;
}

/* For programs that read the clock themselves. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    const int64_t now_ns = clock_read_ns();
    (void)clock;
    *time = (struct timespec){.tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000};
    return 0;
}

/* NOLINTEND(clang-diagnostic-reserved-identifier) */
