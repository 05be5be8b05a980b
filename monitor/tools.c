#include "monitor/tools.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <string.h>

/* ---- who needs MPI --------------------------------------------------------------------------- */

static const char *file_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Names of MPI libraries, of all languages: libmpi.so, libmpich.so, libmpi_mpifh.so, ... */
static bool is_mpi(const char *path) { return strncmp(file_of(path), "libmpi", 6) == 0; }

static const void *pointer_to(ElfW(Addr) address)
{
    const void *pointer;
    memcpy(&pointer, &address, sizeof pointer);
    return pointer;
}

/* Whether an object's list of the libraries that it needs has an MPI library. */
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

/* For dl_iterate_phdr, which ends at the first object that needs MPI, but for MPI libraries and
   this one, whose file's name begins like theirs. */
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

/* ---- who comes before the monitor ------------------------------------------------------------ */

static const char *const wrapped[] = {
#define NEXT(Name) "MPI_" #Name,
#include "monitor/next_functions.h"
#undef NEXT
};

struct tool_before tool_before(void)
{
    struct tool_before before = {"", 0, ""};
    Dl_info own, first;
    ElfW(Sym) * symbol;
    if (dladdr(wrapped, &own) == 0)
        return before;
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++) {
        void *const definition = dlsym(RTLD_DEFAULT, wrapped[i]);
        /* A program that takes the address of a function has a place of its own for that, which is
           no definition. */
        if (definition == NULL ||
            dladdr1(definition, &first, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
            first.dli_fbase == own.dli_fbase || symbol == NULL || symbol->st_shndx == SHN_UNDEF)
            continue;
        if (before.functions++ == 0) {
            before.name = file_of(first.dli_fname);
            before.function = wrapped[i];
        }
    }
    return before;
}
