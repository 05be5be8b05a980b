/* What an operation's calls count with: the engine's own, between operation.c and counts.c. */
#ifndef COMMCOST_OVERLAP_ENGINE_COUNTS_H
#define COMMCOST_OVERLAP_ENGINE_COUNTS_H

#include "overlap/engine/operation.h"

/* Makes the operation's counts, and chooses the functions that take them. Its kind and shape must
   be set. Local. */
void overlap_counts_create(struct overlap_operation *operation);

/* Local. */
void overlap_counts_destroy(struct overlap_operation *operation);

#endif
