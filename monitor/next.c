#include "monitor/next.h"

#include <dlfcn.h>
#include <stddef.h>

struct next_mpi next;

/* NULL if the MPI library lacks the function: then no program calls it. */
static void *next_definition(const char *pmpi_name)
{
    void *const definition = dlsym(RTLD_NEXT, pmpi_name + 1);
    return definition != NULL ? definition : dlsym(RTLD_DEFAULT, pmpi_name);
}

__attribute__((constructor)) static void find_next_definitions(void)
{
#define NEXT(Name) next.Name = (__typeof__(next.Name))next_definition("PMPI_" #Name);
#include "monitor/next_functions.h"
}
