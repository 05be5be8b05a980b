#include "monitor/abi.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

struct abi abi_of_build(void)
{
    /* A header of a library's own ABI has no MPI_ABI_VERSION, or -1. */
#if MPI_ABI_VERSION > 0
    return (struct abi){ABI_STANDARD, MPI_ABI_VERSION};
#elif defined(OPEN_MPI)
    return (struct abi){ABI_OPEN_MPI, 0};
#elif defined(MPICH_VERSION)
    return (struct abi){ABI_MPICH, 0};
#else
    return (struct abi){ABI_OTHER, 0};
#endif
}

struct abi abi_of_library(const char *library, int standard_version)
{
    static const struct {
        const char *name;
        struct abi abi;
    } known[] = {{"Open MPI", {ABI_OPEN_MPI, 0}},
                 {"MPICH", {ABI_MPICH, 0}},
                 {"MVAPICH", {ABI_MPICH, 0}},
                 {"Intel(R) MPI", {ABI_MPICH, 0}}};
    if (standard_version > 0)
        return (struct abi){ABI_STANDARD, standard_version};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(library, known[i].name) != NULL)
            return known[i].abi;
    return (struct abi){ABI_OTHER, 0};
}

/* The major version of the standard's ABI of the library that the program's calls reach; 0 without
   one. A library of that ABI may be loaded beside it, since this monitor, or something else in the
   process, was built with it: only the one that also answers the other calls counts. */
static int standard_version(void)
{
    void *const get_version = dlsym(RTLD_DEFAULT, "PMPI_Abi_get_version");
    void *const other_call = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    Dl_info library, of_calls;
    int major = 0, minor = 0;
    if (get_version == NULL || dladdr(get_version, &library) == 0 ||
        dladdr(other_call, &of_calls) == 0 || library.dli_fbase != of_calls.dli_fbase)
        return 0;
    int (*call)(int *, int *);
    memcpy(&call, &get_version, sizeof call);
    return call(&major, &minor) == MPI_SUCCESS && major > 0 ? major : 0;
}

struct abi abi_of_program(const char **library)
{
    static char text[65536]; /* MPI_MAX_LIBRARY_VERSION_STRING is another one in each library */
    int length;
    PMPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    *library = text;
    return abi_of_library(text, standard_version());
}

bool abi_fits(struct abi built, struct abi program)
{
    if (built.family == ABI_STANDARD || program.family == ABI_STANDARD)
        return built.family == program.family && built.version == program.version;
    if (program.family == ABI_OTHER)
        return true;
    if (built.family == ABI_OTHER)
        return program.family != ABI_OPEN_MPI;
    return built.family == program.family;
}

const char *abi_name(struct abi abi, char *text, size_t size)
{
    static const char *const names[] = {
        [ABI_MPICH] = "MPICH", [ABI_OPEN_MPI] = "Open MPI", [ABI_OTHER] = "another MPI"};
    if (abi.family == ABI_STANDARD)
        (void)snprintf(text, size, "the MPI standard's ABI, version %d", abi.version);
    else
        (void)snprintf(text, size, "%s", names[abi.family]);
    return text;
}
