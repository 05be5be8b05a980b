#include "next.h"

#include <dlfcn.h>
#include <stddef.h>

struct next_mpi next;

/* NULL if the library has no such function: then no program calls ours. */
static void *next_definition(const char *pmpi_name)
{
    void *const definition = dlsym(RTLD_NEXT, pmpi_name + 1);
    return definition != NULL ? definition : dlsym(RTLD_DEFAULT, pmpi_name);
}

__attribute__((constructor)) static void find_next_definitions(void)
{
#define NEXT(Name) next.Name = (__typeof__(next.Name))next_definition("PMPI_" #Name);
    OTHER_FUNCTIONS(NEXT)
    OTHER_FUNCTIONS_OF_MPI_4(NEXT)
#include "next_functions.h"
}
