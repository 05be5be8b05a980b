/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/pairs.h"

#include "monitor/lib/report/columns.h"

#include <stdlib.h>

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int by_ranks(const void *first, const void *second)
{
    const struct pair *const a = first, *const b = second;
    const int order = COMPARE(a->rank, b->rank);
    return order != 0 ? order : COMPARE(a->peer, b->peer);
}

static double seconds_of(const struct pair *pair)
{
    double seconds = 0.0;
    for (int way = 0; way < PEER_WAYS; way++)
        seconds += pair->amounts[way].seconds;
    return seconds;
}

static int64_t bytes_of_pair(const struct pair *pair)
{
    int64_t bytes = 0;
    for (int way = 0; way < PEER_WAYS; way++)
        bytes += pair->amounts[way].bytes;
    return bytes;
}

/* Compare in descending order; equal ones by their ranks. */
static int by_seconds(const void *first, const void *second)
{
    const double a = seconds_of(first), b = seconds_of(second);
    return a != b ? COMPARE(b, a) : by_ranks(first, second);
}

static int by_bytes(const void *first, const void *second)
{
    const int64_t a = bytes_of_pair(first), b = bytes_of_pair(second);
    return a != b ? COMPARE(b, a) : by_ranks(first, second);
}

static void sort(struct pair *list, int count, int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(list, (size_t)count, sizeof *list, compare);
}

static void add_amounts(struct pair *sum, const struct pair *pair)
{
    for (int way = 0; way < PEER_WAYS; way++) {
        sum->amounts[way].messages += pair->amounts[way].messages;
        sum->amounts[way].bytes += pair->amounts[way].bytes;
        sum->amounts[way].seconds += pair->amounts[way].seconds;
    }
}

/* Keeps `most` pairs: half of them with the most time, then those with the most bytes. Adds the
   others to `rest`. Returns the number kept. */
static int keep_heaviest(struct pair *list, int count, int most, struct pair *rest)
{
    if (count <= most)
        return count;
    sort(list, count, by_seconds);
    sort(list + most / 2, count - most / 2, by_bytes);
    for (int i = most; i < count; i++)
        add_amounts(rest, &list[i]);
    return most;
}

static bool is_empty(const struct pair *pair)
{
    for (int way = 0; way < PEER_WAYS; way++)
        if (pair->amounts[way].messages > 0 || pair->amounts[way].seconds > 0.0)
            return false;
    return true;
}

static struct pair pair_of(const struct peer *peer, int32_t rank, int32_t number, double tick_s)
{
    struct pair pair = {.rank = rank, .peer = number};
    for (int way = 0; way < PEER_WAYS; way++) {
        const struct peer_amounts *const amounts = &peer->amounts[way];
        pair.amounts[way] = (struct pair_amounts){amounts->messages, amounts->bytes,
                                                  (double)amounts->ticks * tick_s};
    }
    return pair;
}

bool pairs_of_table(const struct peer_table *table, int rank, double tick_s, struct pairs *pairs)
{
    *pairs = (struct pairs){.rest = {.rank = MPIX_MONITOR_NA, .peer = PAIR_REST}};
    if (table->used == 0)
        return true;
    struct pair *const list = malloc(((size_t)table->used + 2) * sizeof *list);
    if (list == NULL)
        return false;
    struct pair rest = pair_of(&table->rest, rank, PAIR_REST, tick_s);
    struct pair others = {.rank = rank, .peer = PAIR_OTHER_JOBS};
    int count = 0;
    for (int i = 1; i <= table->used; i++)
        if (table->peers[i].number == PEER_OTHER)
            others = pair_of(&table->peers[i], rank, PAIR_OTHER_JOBS, tick_s);
        else
            list[count++] = pair_of(&table->peers[i], rank, table->peers[i].number - 1, tick_s);
    count = keep_heaviest(list, count, PAIRS_OF_RANK, &rest);
    if (!is_empty(&rest))
        list[count++] = rest;
    if (!is_empty(&others))
        list[count++] = others;
    sort(list, count, by_ranks);
    pairs->list = list;
    pairs->count = count;
    pairs->missed = table->rest.missed;
    return true;
}

bool pairs_copy(const struct pairs *pairs, struct pairs *copy)
{
    *copy = *pairs;
    if (pairs->count == 0)
        return true;
    copy->list = malloc((size_t)pairs->count * sizeof *copy->list);
    if (copy->list != NULL)
        memcpy(copy->list, pairs->list, (size_t)pairs->count * sizeof *copy->list);
    else
        copy->count = 0;
    return copy->list != NULL;
}

bool pairs_merge(struct pairs *sum, const struct pairs *more)
{
    const size_t count = (size_t)sum->count + (size_t)more->count;
    if (more->count > 0) {
        struct pair *const larger = realloc(sum->list, count * sizeof *larger);
        if (larger == NULL)
            return false;
        memcpy(larger + sum->count, more->list, (size_t)more->count * sizeof *larger);
        sum->list = larger;
    }
    sum->count = keep_heaviest(sum->list, (int)count, PAIRS_MAX, &sum->rest);
    sort(sum->list, sum->count, by_ranks);
    add_amounts(&sum->rest, &more->rest);
    sum->missed = more->missed > sum->missed ? more->missed : sum->missed;
    return true;
}

static void write_operation(char *text, size_t size, const struct pair *pair, int way)
{
    static const char *const names[PEER_WAYS] = {
        [PEER_SENDS] = "sends",
        [PEER_RECEIVES] = "receives",
        [PEER_PUTS] = "puts",
        [PEER_GETS] = "gets",
    };
    (void)snprintf(text, size, "%s%s", names[way],
                   pair->peer == PAIR_REST         ? " (rest)"
                   : pair->peer == PAIR_OTHER_JOBS ? " (other jobs)"
                                                   : "");
}

bool pairs_next_row(const struct pairs *pairs, int *place, MPIX_Monitor_row *row)
{
    for (; *place < PEER_WAYS * (pairs->count + 1); ++*place) {
        const int i = *place / PEER_WAYS, way = *place % PEER_WAYS;
        const struct pair *const pair = i < pairs->count ? &pairs->list[i] : &pairs->rest;
        const struct pair_amounts *const amounts = &pair->amounts[way];
        if (amounts->messages == 0 && !(amounts->seconds > 0.0))
            continue;
        columns_set_na(row);
        (void)snprintf(row->kind, sizeof row->kind, "peer");
        write_operation(row->operation, sizeof row->operation, pair, way);
        row->rank = pair->rank;
        row->peer = pair->peer < PAIR_REST ? pair->peer : MPIX_MONITOR_NA;
        row->calls = amounts->messages;
        row->bytes = amounts->bytes;
        row->in_calls_s = amounts->seconds;
        ++*place;
        return true;
    }
    return false;
}

void pairs_free(struct pairs *pairs)
{
    free(pairs->list);
    *pairs = (struct pairs){0};
}
