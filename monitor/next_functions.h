/*
 * NEXT(Name) for each MPI function of functions.def, those with large counts, too. Included
 * wherever that is wanted, so without a guard.
 */
#if MPI_VERSION >= 4
#define NEXT_PERSISTENT(Name) NEXT(Name)
#else
#define NEXT_PERSISTENT(Name)
#endif

#define LARGE_COUNTS 0
#define SEND(Name, ...) NEXT(Name)
#define RECEIVE(Name, ...) NEXT(Name)
#define MESSAGE(Name, ...) NEXT(Name)
#define PERSISTENT(Name, ...) NEXT(Name)
#define COLLECTIVE(Name, Nonblocking, ...) NEXT(Name) NEXT(Nonblocking) NEXT_PERSISTENT(Name##_init)
#define ONE_SIDED(Name, ...) NEXT(Name)
#define ONE_SIDED_REQUEST(Name, ...) NEXT(Name)
#define CREATION(Name, ...) NEXT(Name)
#define WINDOW_CREATION(Name, ...) NEXT(Name)
#include "functions.def"

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define SEND(Name, ...) NEXT(Name##_c)
#define RECEIVE(Name, ...) NEXT(Name##_c)
#define MESSAGE(Name, ...) NEXT(Name##_c)
#define PERSISTENT(Name, ...) NEXT(Name##_c)
#define COLLECTIVE(Name, Nonblocking, ...) NEXT(Name##_c) NEXT(Nonblocking##_c) NEXT(Name##_init_c)
#define ONE_SIDED(Name, ...) NEXT(Name##_c)
#define ONE_SIDED_REQUEST(Name, ...) NEXT(Name##_c)
#define CREATION(Name, ...)
#define WINDOW_CREATION(Name, ...) NEXT(Name##_c)
#include "functions.def"
#endif

#undef NEXT_PERSISTENT
