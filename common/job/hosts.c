/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/hosts.h"

#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/result/text.h"

#include <ctype.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs of up to this many hosts are listed host by host. */
#define LISTED_MAX 3

/* A number with this many digits fits long long. */
#define DIGITS_MAX 17

#define NO_MEMORY "no memory for the names of %zu hosts"

/* Ranks with a constant stride. */
struct progression {
    int first, step, count;
};

/* Hosts with consecutive numbers whose ranks are equal progressions, shifted by `shift` from host
   to host; or one host; or a part of the ranks of one host. */
struct bc_host_run {
    char prefix[MPI_MAX_PROCESSOR_NAME], suffix[MPI_MAX_PROCESSOR_NAME];
    int digits;               /* of the first host's number, with leading zeros; 0: no number */
    long long number;         /* of the first host */
    long long hosts;          /* number of hosts */
    struct progression ranks; /* of the first host */
    int shift;
    bool part;      /* the host has other runs, too */
    bool continues; /* the run before this one belongs to the same host */
};

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Returns the longest progression that the ranks begin with. Two ranks form one only if they are
   consecutive, since "0,2" is shorter than "0-2/2". */
static struct progression leading(const int *ranks, size_t count)
{
    const int step = count > 1 ? ranks[1] - ranks[0] : 1;
    size_t end = 1;
    while (end < count && ranks[end] - ranks[end - 1] == step)
        end++;
    if (end == 2 && step > 1)
        end = 1;
    return (struct progression){ranks[0], end > 1 ? step : 1, (int)end};
}

/* Writes `before` and a progression, as snprintf does. */
static size_t write_progression(char *text, size_t size, const char *before,
                                const struct progression *p)
{
    const int last = p->first + (p->count - 1) * p->step;
    if (p->count == 1)
        return (size_t)snprintf(text, size, "%s%d", before, p->first);
    if (p->step == 1)
        return (size_t)snprintf(text, size, "%s%d-%d", before, p->first, last);
    return (size_t)snprintf(text, size, "%s%d-%d/%d", before, p->first, last, p->step);
}

size_t bc_format_ranks(const int *ranks, size_t count, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < count;) {
        const struct progression next = leading(&ranks[i], count - i);
        const size_t left = used < size ? size - used : 0;
        used += write_progression(left > 0 ? text + used : NULL, left, i > 0 ? "," : "", &next);
        i += (size_t)next.count;
    }
    return used;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Splits a name into prefix, number and suffix: the number is the last one before the domain. */
static void split_name(struct bc_host_run *run, const char *name)
{
    const size_t own = strcspn(name, ".");
    size_t end = own;
    while (end > 0 && !isdigit((unsigned char)name[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && end - start < DIGITS_MAX && isdigit((unsigned char)name[start - 1]))
        start--;
    run->digits = (int)(end - start);
    if (run->digits == 0)
        start = end = own;
    run->number = strtoll(name + start, NULL, 10);
    snprintf(run->prefix, sizeof run->prefix, "%.*s", (int)start, name);
    snprintf(run->suffix, sizeof run->suffix, "%s", name + end);
}

static bool is_next_name(const struct bc_host_run *run, const struct bc_host_run *next)
{
    /* Number of digits of the next host's number when formatted like this run's numbers. */
    const int digits = snprintf(NULL, 0, "%0*lld", run->digits, next->number);
    return run->digits > 0 && digits == next->digits && next->number == run->number + run->hosts &&
           strcmp(run->prefix, next->prefix) == 0 && strcmp(run->suffix, next->suffix) == 0;
}

/* Adds the next run to this one if it continues this one's pattern. */
static bool extend(struct bc_host_run *run, const struct bc_host_run *next)
{
    if (run->part || next->part || !is_next_name(run, next) ||
        run->ranks.count != next->ranks.count || run->ranks.step != next->ranks.step)
        return false;
    /* The first rank of this run's last host. */
    const long long before = run->ranks.first + (run->hosts - 1) * run->shift;
    const int shift = (int)(next->ranks.first - before);
    if ((run->hosts > 1 && run->shift != shift) || (next->hosts > 1 && next->shift != shift))
        return false;
    run->shift = shift;
    run->hosts += next->hosts;
    return true;
}

static void append_run(struct bc_hosts *hosts, const struct bc_host_run *run)
{
    if (hosts->count > 0 && extend(&hosts->runs[hosts->count - 1], run))
        return;
    if (hosts->count == hosts->capacity) {
        hosts->capacity = 2 * hosts->capacity + 1;
        hosts->runs = bc_reallocate(hosts->runs, hosts->capacity, sizeof *hosts->runs, NO_MEMORY,
                                    hosts->capacity);
    }
    hosts->runs[hosts->count++] = *run;
}

void bc_hosts_add(struct bc_hosts *hosts, const char *name, const int *ranks, size_t count)
{
    struct bc_host_run run;
    memset(&run, 0, sizeof run);
    run.hosts = 1;
    split_name(&run, name);
    for (size_t i = 0; i < count; i += (size_t)run.ranks.count) {
        run.ranks = leading(&ranks[i], count - i);
        run.part = (size_t)run.ranks.count < count;
        run.continues = i > 0;
        append_run(hosts, &run);
    }
}

static void append_hosts(struct bc_hosts *hosts, const struct bc_hosts *more)
{
    for (size_t i = 0; i < more->count; i++)
        append_run(hosts, &more->runs[i]);
}

void bc_hosts_free(struct bc_hosts *hosts)
{
    free(hosts->runs);
    *hosts = (struct bc_hosts){0};
}

/* ---- the tree -------------------------------------------------------------------------------- */

static void receive_hosts(struct bc_hosts *hosts, int rank, MPI_Comm comm)
{
    int bytes;
    BC_MPI(MPI_Recv(&bytes, 1, MPI_INT, rank, 0, comm, MPI_STATUS_IGNORE));
    struct bc_hosts more = {.count = (size_t)bytes / sizeof *more.runs};
    more.runs = bc_allocate(more.count, sizeof *more.runs, NO_MEMORY, more.count);
    BC_MPI(MPI_Recv(more.runs, bytes, MPI_BYTE, rank, 0, comm, MPI_STATUS_IGNORE));
    append_hosts(hosts, &more);
    free(more.runs);
}

void bc_hosts_gather(struct bc_hosts *hosts, MPI_Comm comm)
{
    int rank, ranks, distance = 1;
    BC_MPI(MPI_Comm_rank(comm, &rank));
    BC_MPI(MPI_Comm_size(comm, &ranks));
    /* After each step a rank that continues has the lists of 2 * distance ranks. */
    for (; distance < ranks && rank % (2 * distance) == 0; distance *= 2)
        if (rank + distance < ranks)
            receive_hosts(hosts, rank + distance, comm);
    if (rank == 0)
        return;
    const int bytes = (int)(hosts->count * sizeof *hosts->runs);
    BC_MPI(MPI_Send(&bytes, 1, MPI_INT, rank - distance, 0, comm));
    BC_MPI(MPI_Send(hosts->runs, bytes, MPI_BYTE, rank - distance, 0, comm));
    bc_hosts_free(hosts);
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Appends the names of the run's hosts `first` to `last`, counted from 0. */
static void append_names(struct bc_text *text, const struct bc_host_run *run, long long first,
                         long long last)
{
    bc_text_append(text, "%s%s%s", text->length > 0 ? "; " : "", run->prefix,
                   first < last ? "[" : "");
    if (run->digits > 0)
        bc_text_append(text, "%0*lld", run->digits, run->number + first);
    if (first < last)
        bc_text_append(text, "-%0*lld]", run->digits, run->number + last);
    bc_text_append(text, "%s: ", run->suffix);
}

static void append_progression(struct bc_text *text, const struct progression *ranks)
{
    char range[64]; /* for any progression */
    write_progression(range, sizeof range, "", ranks);
    bc_text_append(text, "%s", range);
}

static void list_hosts(struct bc_text *text, const struct bc_host_run *run)
{
    struct progression ranks = run->ranks;
    for (long long i = 0; i < run->hosts; i++) {
        if (run->continues)
            bc_text_append(text, ",");
        else
            append_names(text, run, i, i);
        append_progression(text, &ranks);
        ranks.first += run->shift;
    }
}

static void append_as_one(struct bc_text *text, const struct bc_host_run *run)
{
    struct progression ranks = run->ranks;
    const bool follow_one_another = ranks.step == 1 && run->shift == ranks.count;
    if (follow_one_another)
        ranks.count *= (int)run->hosts;
    append_names(text, run, 0, run->hosts - 1);
    append_progression(text, &ranks);
    if (!follow_one_another)
        bc_text_append(text, ", each next %+d", run->shift);
}

char *bc_hosts_format(const struct bc_hosts *hosts)
{
    struct bc_text text = {0};
    for (size_t i = 0; i < hosts->count; i++)
        if (hosts->runs[i].hosts > LISTED_MAX)
            append_as_one(&text, &hosts->runs[i]);
        else
            list_hosts(&text, &hosts->runs[i]);
    return text.start;
}

/* ---- names ----------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int bc_different_names(const char *first, size_t step, int count)
{
    const char **const sorted = bc_allocate((size_t)count, sizeof *sorted, "no memory for names");
    int different = 0;
    for (int i = 0; i < count; i++)
        sorted[i] = first + (size_t)i * step;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_names);
    for (int i = 0; i < count; i++)
        different += i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0;
    free(sorted);
    return different;
}
