/* What an operation's calls count with: the engine's own, between operation.c and counts.c. */
#ifndef COMMCOST_OVERLAP_ENGINE_COUNTS_H
#define COMMCOST_OVERLAP_ENGINE_COUNTS_H

#include "overlap/engine/operation.h"

/* Makes the operation's counts, and chooses the functions that take them. Its kind and shape must
   be set. Local. */
void overlap_counts_create(struct overlap_operation *operation);

/* Whether MPI_Get_library_version's text begins so; false for NULL. Local. */
bool overlap_is_library(const char *begin);

/* Local. */
void overlap_counts_destroy(struct overlap_operation *operation);

#endif
