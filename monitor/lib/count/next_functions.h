/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * List of NEXT(Name) for each MPI function of functions.def. Included wherever it is needed, so it
 * has no guard.
 */
#include "monitor/lib/count/names.h"

#define LARGE_COUNTS 0
#define ROW NAMES
#define OPERATION(Name, Class) NEXT(Name)
#define UNCOUNTED(Name) NEXT(Name)
#include "monitor/lib/count/functions.def"

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define ROW NAMES
#define OPERATION(Name, Class) NEXT(Name##_c)
#define UNCOUNTED(Name) NEXT(Name##_c)
#include "monitor/lib/count/functions.def"
#endif
