/*
 * Cold caches on demand.
 */
#ifndef COMMCOST_COMMON_MACHINE_CACHE_H
#define COMMCOST_COMMON_MACHINE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

struct bc_cache_flush {
    double *values;
    size_t count; /* of values; 0: flushing does nothing */
};

/* The size of this processor's last-level cache in bytes, as hwloc (where
   built in) or sysconf gives it; 0 where neither knows. Local. */
size_t bc_cache_llc_bytes(void);

/* The size to flush with where the last level is to be cold, too: half as much
   again as it holds; 0 where its size isn't known. Pages don't spread evenly
   over its sets, so a buffer of just its size leaves some of them as they
   were. Local. */
size_t bc_cache_llc_flush_bytes(void);

/* Allocates the buffer, `bytes` rounded down to whole doubles, and touches it.
   0 bytes makes a flush that does nothing. False if there is no memory. */
bool bc_cache_flush_create(struct bc_cache_flush *flush, size_t bytes);

/* Displaces what the caches hold: a[i] = a[i - 1] + 1 over the whole buffer,
   as the specification gives it, and before and after that a read of each of
   its lines in scattered order, without which some processors keep what they
   had. Local; takes about a millisecond a MiB at worst. */
void bc_cache_flush_run(struct bc_cache_flush *flush);

void bc_cache_flush_destroy(struct bc_cache_flush *flush);

#endif
