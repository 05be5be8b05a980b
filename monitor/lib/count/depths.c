/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/depths.h"

static int64_t now_open[DEPTH_KINDS] = {[DEPTH_UNEXPECTED] = -1};

static struct depth_mark *watched[MPIX_MONITOR_ACTIVE_MAX];
static int watched_count;

/* Returns the site of the thread's call in progress, of whatever kind. */
static uint16_t site_in_progress(void)
{
    return are_sites_counted() && inside.callers > 0 ? inside.site : OTHER_SITES;
}

void depth_set(enum depth_kind kind, int64_t now)
{
    now_open[kind] = now;
    for (int i = 0; i < watched_count; i++)
        if (now > watched[i][kind].high)
            watched[i][kind] = (struct depth_mark){now, site_in_progress()};
}

void depth_add(enum depth_kind kind, int64_t change)
{
    /* Objects may be freed that were made by functions that the monitor doesn't wrap. */
    const int64_t now = now_open[kind] + change;
    depth_set(kind, now > 0 ? now : 0);
}

void depths_watch(struct depth_mark marks[])
{
    for (int kind = 0; kind < DEPTH_KINDS; kind++)
        if (now_open[kind] > marks[kind].high || now_open[kind] < 0)
            marks[kind] = (struct depth_mark){now_open[kind], OTHER_SITES};
    watched[watched_count++] = marks;
}

void depths_unwatch(const struct depth_mark marks[])
{
    int i = 0;
    while (i < watched_count && watched[i] != marks)
        i++;
    if (i < watched_count)
        watched[i] = watched[--watched_count];
}
