/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of the Fortran layer for the rows of functions.def: wrap.h, with the same observers as
   for C. */
#include "fortran_names.h"
#include "monitor/fortran/arguments.h"
#include "monitor/lib/wrap/next.h"
#include "monitor/lib/wrap/observers.h"

#define NEXT(Name, arguments) FORTRAN_NEXT_OF(COUNT_OF arguments)
#define IN_FORTRAN
#define IS_OBSERVED(key, return_address) fortran_passes(fortran, key)
#define PASS_FREE(Name, arguments) PASS(Name, arguments)
#define IS_FOUND(Name) true /* an entry finds its own */
#define TAKE(parameters, arguments) TAKE_ALL(parameters, arguments)
#define HANDLE_AT(Kind, address) FORTRAN_HANDLE(Kind, address)
#define KEEP_STATUS(names)                                                                         \
    MPI_Fint own[FORTRAN_STATUS_SIZE];                                                             \
    void **const kept = &fortran->arguments[COUNT_OF names - 1];                                   \
    *kept = fortran_ignores_status(*kept) ? own : *kept
#define RETURNED_STATUS fortran_status(fortran, *kept, 0, &(MPI_Status){0})
#define RETURN_ADDRESS fortran->return_address
#define EACH_TYPE EACH_OF_FORTRAN

#define FORTRAN_PASS_OF(n) FORTRAN_PASS(n)
#define FORTRAN_NEXT_OF(n) FORTRAN_NEXT(n)
#define FORTRAN_WRAPPER_OF(Name, n, remembers) FORTRAN_WRAPPER(Name, n, remembers)
#define FORTRAN_LARGE_WRAPPER_OF(Name, n, remembers) FORTRAN_LARGE_WRAPPER(Name, n, remembers)

#define LARGE_COUNTS 0
#define COUNT int
#define DISPLACEMENT int
#define ADDRESS MPI_Aint
#define FUNCTION(Name, parameters, arguments, remembers)                                           \
    FORTRAN_WRAPPER_OF(Name, COUNT_OF arguments, remembers)
#define KEY(Name) &next.Name
#define PASS(Name, arguments) (FORTRAN_PASS_OF(COUNT_OF arguments), MPI_SUCCESS)
#include "monitor/lib/wrap/wrap.h"

FORTRAN_CPTR_ENTRIES(Alloc_mem, 3, false)
FORTRAN_CPTR_ENTRIES(Win_allocate, 6, true)
FORTRAN_CPTR_ENTRIES(Win_allocate_shared, 6, true)
FORTRAN_CPTR_ENTRIES(Win_shared_query, 5, false)

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define ADDRESS MPI_Count
#define FUNCTION(Name, parameters, arguments, remembers)                                           \
    FORTRAN_LARGE_WRAPPER_OF(Name##_c, COUNT_OF arguments, remembers)
#define KEY(Name) &next.Name##_c
#define PASS(Name, arguments) (FORTRAN_PASS_OF(COUNT_OF arguments), MPI_SUCCESS)
#include "monitor/lib/wrap/wrap.h"
#endif
