#include "next.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct next_mpi next;

static void *next_definition(const char *pmpi_name)
{
    const char *mpi_name = pmpi_name + 1;
    void *definition = dlsym(RTLD_NEXT, mpi_name);
    if (definition == NULL)
        definition = dlsym(RTLD_DEFAULT, pmpi_name);
    if (definition == NULL) {
        (void)fprintf(stderr, "model MPI: this MPI library has no %s\n", mpi_name);
        abort();
    }
    return definition;
}

__attribute__((constructor)) static void find_next_definitions(void)
{
#define FIND_NEXT(Name) next.Name = (__typeof__(next.Name))next_definition("PMPI_" #Name);
    NEXT_FUNCTIONS(FIND_NEXT)
    NEXT_PARTITIONED(FIND_NEXT)
#if HAS_PERSISTENT
#define PERSISTENT_COLLECTIVE(Name, ...)                                                           \
    next.Name = (__typeof__(next.Name))next_definition(PERSISTENT_PMPI(Name));
#else
#define PERSISTENT_COLLECTIVE(Name, ...)
#endif
#define COLLECTIVE(Name, ...) FIND_NEXT(Name)
#define BLOCKING_COLLECTIVE(Name, ...) FIND_NEXT(Name)
#include "collectives.def"
#define MESSAGE_ROWS 1
#define MESSAGE(Name, ...) FIND_NEXT(Name)
#include "p2p.def"
#define ONE_SIDED(Name, ...) FIND_NEXT(Name)
#define ONE_SIDED_REQUEST(Name, ...) FIND_NEXT(Name)
#define ATOMIC(Name, ...) FIND_NEXT(Name)
#define SYNCHRONISATION(Name, ...) FIND_NEXT(Name)
#define LOCK(Name, ...) FIND_NEXT(Name)
#include "rma.def"
}
