/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The truth, as a table: a row for each function and number of bytes on rank 0. What doesn't apply
 * is NA.
 *
 *   operation, bytes   e.g. iallreduce, isend
 *   duration_us        D
 *   fraction           f
 *   host_us            o
 *   extra_us           w
 *   overlap_pct        100 max(0, f D - o - taken) / (D + w); what is taken from the work under it
 *   gap_us             g, of messages and one-sided operations
 *   test_us            of a test that completes nothing
 *   posted, completed  number of operations
 *
 * With MODEL_TARGETS each rank prints on stderr to which ranks it sent messages, put or got data,
 * or exposed a window.
 */
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;
    enum plan_kind kind;
    int64_t bytes, posted, completed;
};

static struct row *rows;
static int row_count;

static struct row *find(const char *name, enum plan_kind kind, int64_t bytes)
{
    static int last;
    if (last < row_count && rows[last].bytes == bytes && rows[last].name == name)
        return &rows[last];
    for (int i = 0; i < row_count; i++)
        if (rows[i].bytes == bytes && strcmp(rows[i].name, name) == 0)
            return &rows[last = i];
    rows = world_grow(rows, (size_t)row_count + 1, sizeof *rows);
    rows[row_count] = (struct row){.name = name, .kind = kind, .bytes = bytes};
    return &rows[row_count++];
}

void truth_posted(const char *name, enum plan_kind kind, int64_t bytes)
{
    find(name, kind, bytes)->posted++;
}

void truth_completed(const char *name, enum plan_kind kind, int64_t bytes)
{
    find(name, kind, bytes)->completed++;
}

static bool *targets; /* by rank of the world; NULL: none */

void truth_sent(int to_rank)
{
    if (targets == NULL)
        targets = calloc((size_t)world->ranks, sizeof *targets);
    targets[to_rank] = true;
}

static void print_targets(void)
{
    char text[1024];
    int length = snprintf(text, sizeof text, "targets of rank %d:", world_rank);
    for (int rank = 0; rank < world->ranks && targets != NULL; rank++)
        if (targets[rank])
            length += snprintf(text + length, sizeof text - (size_t)length, " %d", rank);
    (void)fprintf(stderr, "%s\n", text);
}

static void print_number(FILE *file, bool applies, double number)
{
    if (applies)
        (void)fprintf(file, "\t%.6g", number);
    else
        (void)fprintf(file, "\tNA");
}

void truth_write(void)
{
    char path[4096];
    const char *const name = getenv("MODEL_REPORT");
    if (getenv("MODEL_TARGETS") != NULL)
        print_targets();
    if (name == NULL || world_rank != 0)
        return;
    (void)snprintf(path, sizeof path, parameters.launches > 1 ? "%s.%d" : "%s", name,
                   world->launch);
    FILE *const file = fopen(path, "w");
    if (file == NULL)
        world_abort("can't write %s", path);
    (void)fprintf(file, "operation\tbytes\tduration_us\tfraction\thost_us\textra_us\toverlap_pct\t"
                        "gap_us\ttest_us\tposted\tcompleted\n");
    for (int i = 0; i < row_count; i++) {
        const struct row *const row = &rows[i];
        const bool has_post = row->kind != PLAN_BLOCKING && row->kind != PLAN_BARRIER &&
                              row->kind != PLAN_SYNCHRONISATION;
        const double duration_ns = plan_duration_ns(row->kind, row->bytes);
        const double fraction = plan_fraction(row->kind);
        const double hidden_ns =
            fmax(0.0, fraction * duration_ns - parameters.post_ns - parameters.taken_ns);
        (void)fprintf(file, "%s\t%lld", row->name, (long long)row->bytes);
        print_number(file, true, duration_ns / 1e3);
        print_number(file, has_post, fraction);
        print_number(file, has_post, parameters.post_ns / 1e3);
        print_number(file, true, parameters.wait_ns / 1e3);
        print_number(file, has_post, 100.0 * hidden_ns / (duration_ns + parameters.wait_ns));
        print_number(file, row->kind >= PLAN_SEND && row->kind <= PLAN_ONE_SIDED,
                     parameters.gap_ns / 1e3);
        print_number(file, has_post, parameters.test_ns / 1e3);
        (void)fprintf(file, "\t%lld\t%lld\n", (long long)row->posted, (long long)row->completed);
    }
    if (fclose(file) != 0)
        world_abort("can't write %s", path);
}
