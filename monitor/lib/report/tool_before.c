/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/tool_before.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <string.h>

static const char *const wrapped[] = {
#define NEXT(Name) "MPI_" #Name,
#include "monitor/lib/count/next_functions.h"
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
        /* Taking a function's address may create an undefined symbol in the program (a PLT entry):
           skip it. */
        if (definition == NULL ||
            dladdr1(definition, &first, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
            first.dli_fbase == own.dli_fbase || symbol == NULL || symbol->st_shndx == SHN_UNDEF)
            continue;
        if (before.functions++ == 0) {
            const char *const slash = strrchr(first.dli_fname, '/');
            before.name = slash != NULL ? slash + 1 : first.dli_fname;
            before.function = wrapped[i];
        }
    }
    return before;
}
