#include "common/machine/hosts.h"

#include "common/mpi/mpi_check.h"
#include "common/result/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "no memory for the names of %zu hosts"

/* Runs of up to this many hosts are listed host by host. */
#define LISTED_MAX 3

/* A number with this many digits fits long long. */
#define DIGITS_MAX 17

#define RANGE_SIZE 64 /* for the text of any progression */

/* Ranks with a constant stride. */
struct progression {
    int first, step, count;
};

/* Hosts with consecutive numbers whose ranks are equal progressions, shifted by `shift` from host
   to host; or one host; or a part of the ranks of one host. */
struct bc_host_run {
    char name[MPI_MAX_PROCESSOR_NAME]; /* of the first host */
    int start, digits; /* where the number stands in it, with leading zeros; 0 digits: none */
    long long number;
    long long hosts;          /* how many */
    struct progression ranks; /* of the first host */
    int shift;
    bool part;      /* the host has other runs, too */
    bool continues; /* the run before this one belongs to the same host */
};

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The longest progression that the ranks begin with. Two ranks alone are no progression, since
   "0,2" is shorter than "0-2/2", unless they are consecutive. */
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

static void format_progression(const struct progression *p, char text[RANGE_SIZE])
{
    const int last = p->first + (p->count - 1) * p->step;
    if (p->count == 1)
        snprintf(text, RANGE_SIZE, "%d", p->first);
    else if (p->step == 1)
        snprintf(text, RANGE_SIZE, "%d-%d", p->first, last);
    else
        snprintf(text, RANGE_SIZE, "%d-%d/%d", p->first, last, p->step);
}

size_t bc_format_ranks(const int *ranks, size_t count, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < count;) {
        const struct progression next = leading(&ranks[i], count - i);
        const size_t left = used < size ? size - used : 0;
        char range[RANGE_SIZE];
        format_progression(&next, range);
        used +=
            (size_t)snprintf(left > 0 ? text + used : NULL, left, "%s%s", i > 0 ? "," : "", range);
        i += (size_t)next.count;
    }
    return used;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Finds the number in a run's name: the last one before the domain. */
static void find_number(struct bc_host_run *run)
{
    const int own = (int)strcspn(run->name, ".");
    int end = own;
    while (end > 0 && !isdigit((unsigned char)run->name[end - 1]))
        end--;
    int start = end;
    while (start > 0 && end - start < DIGITS_MAX && isdigit((unsigned char)run->name[start - 1]))
        start--;
    run->digits = end - start;
    run->start = run->digits > 0 ? start : own;
    run->number = strtoll(run->name + run->start, NULL, 10);
}

static bool is_next_name(const struct bc_host_run *run, const struct bc_host_run *next)
{
    /* The digits that the next host's number has if it is written as this run's numbers are. */
    const int digits = snprintf(NULL, 0, "%0*lld", run->digits, next->number);
    return run->digits > 0 && digits == next->digits && next->number == run->number + run->hosts &&
           run->start == next->start && strncmp(run->name, next->name, (size_t)run->start) == 0 &&
           strcmp(run->name + run->start + run->digits, next->name + next->start + digits) == 0;
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
    snprintf(run.name, sizeof run.name, "%s", name);
    find_number(&run);
    for (size_t i = 0; i < count; i += (size_t)run.ranks.count) {
        run.ranks = leading(&ranks[i], count - i);
        run.part = (size_t)run.ranks.count < count;
        run.continues = i > 0;
        append_run(hosts, &run);
    }
}

void bc_hosts_free(struct bc_hosts *hosts)
{
    free(hosts->runs);
    *hosts = (struct bc_hosts){0};
}

void bc_hosts_gather(struct bc_hosts *hosts, MPI_Comm comm)
{
    int rank, ranks, all_bytes = 0;
    BC_MPI(MPI_Comm_rank(comm, &rank));
    BC_MPI(MPI_Comm_size(comm, &ranks));
    if (ranks == 1)
        return;
    /* The bytes of each rank, and where they begin on rank 0. */
    int *const counts = bc_allocate(2 * (size_t)ranks, sizeof *counts, NO_MEMORY, (size_t)ranks);
    int *const starts = counts + ranks;
    const int bytes = (int)(hosts->count * sizeof *hosts->runs);
    BC_MPI(MPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, comm));
    for (int i = 0; i < ranks; i++) {
        starts[i] = all_bytes;
        all_bytes += counts[i];
    }
    char *const all = bc_allocate((size_t)all_bytes, 1, NO_MEMORY, (size_t)ranks);
    BC_MPI(MPI_Gatherv(hosts->runs, bytes, MPI_BYTE, all, counts, starts, MPI_BYTE, 0, comm));
    bc_hosts_free(hosts);
    for (int at = 0; at < all_bytes; at += (int)sizeof *hosts->runs)
        append_run(hosts, (const struct bc_host_run *)(const void *)(all + at));
    free(all);
    free(counts);
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Appends the names of the run's hosts `first` to `last`, counted from 0. */
static void append_names(struct bc_text *text, const struct bc_host_run *run, long long first,
                         long long last)
{
    bc_text_append(text, "%s%.*s%s", text->length > 0 ? "; " : "", run->start, run->name,
                   first < last ? "[" : "");
    if (run->digits > 0)
        bc_text_append(text, "%0*lld", run->digits, run->number + first);
    if (first < last)
        bc_text_append(text, "-%0*lld]", run->digits, run->number + last);
    bc_text_append(text, "%s: ", run->name + run->start + run->digits);
}

static void append_progression(struct bc_text *text, const struct progression *ranks)
{
    char range[RANGE_SIZE];
    format_progression(ranks, range);
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
