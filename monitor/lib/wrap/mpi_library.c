/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/wrap/mpi_library.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int abi_of_build(void)
{
    /* A header of a library's own ABI has no MPI_ABI_VERSION, or -1. */
#if MPI_ABI_VERSION > 0
    return MPI_ABI_VERSION;
#elif defined(OPEN_MPI)
    return ABI_OPEN_MPI;
#elif defined(MPICH_VERSION)
    return ABI_MPICH;
#else
    return ABI_OTHER;
#endif
}

int abi_of_library(const char *library, int standard_version)
{
    static const char *const of_mpich[] = {"MPICH", "MVAPICH", "Intel(R) MPI"};
    if (standard_version > 0)
        return standard_version;
    if (strstr(library, "Open MPI") != NULL)
        return ABI_OPEN_MPI;
    for (size_t i = 0; i < sizeof of_mpich / sizeof *of_mpich; i++)
        if (strstr(library, of_mpich[i]) != NULL)
            return ABI_MPICH;
    return ABI_OTHER;
}

/* Returns the major version of the standard's ABI of the library that the program's calls reach, or
   0 if it has none. A library of that ABI may also be in the process for another user, so only one
   that answers the other calls is accepted. */
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

int abi_of_program(const char **library)
{
    static char text[65536]; /* MPI_MAX_LIBRARY_VERSION_STRING differs between libraries */
    int length;
    PMPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    *library = text;
    return abi_of_library(text, standard_version());
}

bool abi_fits(int built, int program)
{
    if (built == program || built > 0 || program > 0)
        return built == program;
    return program == ABI_OTHER || (built == ABI_OTHER && program != ABI_OPEN_MPI);
}

const char *abi_name(int abi, char *text, size_t size)
{
    static const char *const names[] = {
        [-ABI_MPICH] = "MPICH", [-ABI_OPEN_MPI] = "Open MPI", [ABI_OTHER] = "another MPI"};
    if (abi > 0)
        (void)snprintf(text, size, "the MPI standard's ABI, version %d", abi);
    else
        (void)snprintf(text, size, "%s", names[-abi]);
    return text;
}

/* True for MPI libraries of all languages: libmpi.so, libmpich.so, libmpi_mpifh.so. */
static bool is_mpi(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, "libmpi", 6) == 0;
}

static const void *pointer_to(ElfW(Addr) address)
{
    const void *pointer;
    memcpy(&pointer, &address, sizeof pointer);
    return pointer;
}

/* True if an object needs an MPI library. */
static bool needs_mpi(const ElfW(Dyn) * entries, ElfW(Addr) base)
{
    const char *names = NULL;
    for (const ElfW(Dyn) *entry = entries; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB) {
            /* Some systems leave the address as it is in the file. */
            const ElfW(Addr) at = entry->d_un.d_ptr;
            names = pointer_to(at < base ? base + at : at);
        }
    for (const ElfW(Dyn) *entry = entries; names != NULL && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && is_mpi(names + entry->d_un.d_val))
            return true;
    return false;
}

/* Looks at an object for dl_iterate_phdr, which ends at the first one that needs MPI. MPI
   libraries, and this one, are ignored. */
static int look_at_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < object->dlpi_phnum && !is_mpi(object->dlpi_name); i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC &&
            needs_mpi(pointer_to(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr),
                      object->dlpi_addr))
            return 1;
    return 0;
}

bool program_needs_mpi(void) { return dl_iterate_phdr(look_at_object, NULL) != 0; }
