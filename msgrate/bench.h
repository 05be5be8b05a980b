/*
 * What msgrate and msgrate_rma share for all rows: peers and the flush of the caches.
 */
#ifndef COMMCOST_MSGRATE_BENCH_H
#define COMMCOST_MSGRATE_BENCH_H

#include "common/machine/cache.h"
#include "common/machine/node_order.h"
#include "common/run/run.h"
#include "msgrate/parameters.h"

#include <stdbool.h>
#include <stdint.h>

/* The state of both programs. */
struct msgrate_bench {
    struct msgrate_parameters parameters;
    struct bc_run *run;
    struct bc_cache_flush flush;
    int64_t cache_bytes;          /* of the flush; the same on every rank */
    struct bc_node_order by_node; /* in which peers and partners are chosen */
    int npeers;                   /* length of both lists */
    int *sends, *receives;        /* the ranks that this one sends to, receives from */
    int stride;                   /* between peers, in ranks ordered by node */
    int partner;                  /* in the single direction; -1: this rank rests */
    bool lower;                   /* this rank is in the lower half of the ranks ordered by node */
};

/* How both programs begin and end (struct bc_benchmark); `state` is a bench, of which only the
   parameters are set. Chooses the peers, makes the flush, and says in notes and warnings what a
   reader of the result must know. Collective. */
void msgrate_open(void *state, struct bc_run *run);
void msgrate_close(void *state);

#endif
