/*
 * Flushing the caches, so that a measurement starts with cold ones. All functions are local.
 */
#ifndef COMMCOST_COMMON_MACHINE_CACHE_H
#define COMMCOST_COMMON_MACHINE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

struct bc_cache_flush {
    double *values;
    size_t count; /* of values; 0: bc_cache_flush_run does nothing */
};

/* The bytes of this processor's last-level cache, as hwloc (where built in) or sysconf says; 0
   where neither knows. */
size_t bc_cache_llc_bytes(void);

/* The bytes to flush with where the last-level cache is to be cold, too: one and a half times its
   size; 0 where that isn't known. Pages don't spread evenly over the sets of a cache, so a buffer
   of the cache's own size leaves some sets untouched. */
size_t bc_cache_llc_flush_bytes(void);

/* Allocates the buffer, `bytes` rounded down to whole doubles, and writes to all of it. With 0
   bytes the flush does nothing. False if there is no memory. */
bool bc_cache_flush_create(struct bc_cache_flush *flush, size_t bytes);

void bc_cache_flush_destroy(struct bc_cache_flush *flush);

/* Evicts what the caches hold: computes a[i] = a[i - 1] + 1 over the whole buffer, as specified,
   and before and after that reads each of its lines in scattered order, without which some
   processors keep their lines. Takes up to about a millisecond a MiB. */
void bc_cache_flush_run(struct bc_cache_flush *flush);

#endif
