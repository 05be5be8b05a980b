/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI library's Fortran layer: definitions of its entries, and its constants. */
#include "monitor/fortran/call.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- definitions ----------------------------------------------------------------------------- */

/* Suffixes of an entry's names; the third one's name is in capitals. */
enum { NAMES_MAX = 3 };
static const char *const suffixes[FORMS][NAMES_MAX] = {
    [FORM_PLAIN] = {"_", "__", ""},
    [FORM_CPTR] = {"_cptr_", "_cptr__", "_cptr"},
    [FORM_F08] = {"_f08_"},
    [FORM_F08TS] = {"_f08ts_"},
    [FORM_F08_LARGE] = {"_f08_large_"},
    [FORM_F08TS_LARGE] = {"_f08ts_large_"},
};

enum { SYMBOL_SIZE = 80 };

/* Writes a name of an entry. */
static void write_symbol(char symbol[SYMBOL_SIZE], const char *name, enum fortran_form form,
                         int number)
{
    const bool is_large = form == FORM_F08_LARGE || form == FORM_F08TS_LARGE;
    const int length = (int)strlen(name) - (is_large ? (int)strlen("_c") : 0);
    (void)snprintf(symbol, SYMBOL_SIZE, "MPI_%.*s%s", length, name, suffixes[form][number]);
    for (char *at = symbol; *at != '\0'; at++)
        *at = (char)(number == 2 ? toupper(*at) : tolower(*at));
}

static bool is_own(const void *address)
{
    Dl_info own, other;
    return dladdr((const void *)suffixes, &own) != 0 && dladdr(address, &other) != 0 &&
           own.dli_fbase == other.dli_fbase;
}

/* Returns the first loaded object. */
static const struct link_map *first_object(void)
{
    struct link_map *first = NULL;
    void *const program = dlopen(NULL, RTLD_LAZY);
    if (program != NULL) {
        (void)dlinfo(program, RTLD_DI_LINKMAP, &first);
        (void)dlclose(program);
    }
    return first;
}

/* Returns a symbol of a loaded object or of those that it needs, or NULL. */
static void *symbol_of(const struct link_map *object, const char *symbol)
{
    void *const library = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return NULL;
    void *const found = dlsym(library, symbol);
    (void)dlclose(library);
    return found;
}

/* Returns another object's symbol, or NULL. The Fortran layer may have come by dlopen. */
static void *find_symbol(void *first, const char *symbol)
{
    void *found = dlsym(first, symbol);
    for (const struct link_map *object = first_object(); found == NULL && object != NULL;
         object = object->l_next) {
        found = symbol_of(object, symbol);
        if (found != NULL && is_own(found))
            found = NULL;
    }
    return found;
}

fortran_procedure *fortran_find_next(struct fortran_function *function, enum fortran_form form)
{
    char symbol[SYMBOL_SIZE];
    void *found = NULL;
    for (int i = 0; found == NULL && i < NAMES_MAX && suffixes[form][i] != NULL; i++) {
        write_symbol(symbol, function->name, form, i);
        found = find_symbol(RTLD_NEXT, symbol);
    }
    if (found == NULL) {
        write_symbol(symbol, function->name, form, 0);
        (void)fprintf(stderr, "mpirtmon: the MPI library has no %s\n", symbol);
        (void)fflush(NULL);
        _Exit(127); /* as the dynamic linker does */
    }
    fortran_procedure *next;
    memcpy(&next, &found, sizeof next);
    __atomic_store_n(&function->next[form], next, __ATOMIC_RELAXED);
    return next;
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Addresses that stand for a constant: of a variable, or in a pointer that the library sets. MPICH
   doesn't set it in programs that use mpi_f08 only. */
enum { CONSTANTS_MAX = 6 };
struct constant {
    const char *variables[CONSTANTS_MAX], *pointers[2];
    const void *addresses[CONSTANTS_MAX]; /* those found */
    const void *const *set[2];
    int address_count, set_count;
};

/* MPICH's names and those of Open MPI, by compiler. */
static struct constant in_place = {.variables = {"MPIR_F08_MPI_IN_PLACE", "mpi_fortran_in_place_",
                                                 "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE",
                                                 "mpi_fortran_in_place"},
                                   .pointers = {"MPIR_F_MPI_IN_PLACE"}};
static struct constant status_ignore = {
    .variables = {"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore__",
                  "MPI_FORTRAN_STATUS_IGNORE", "mpi_fortran_status_ignore"},
    .pointers = {"MPI_F_STATUS_IGNORE", "MPI_F08_STATUS_IGNORE"}};
static struct constant statuses_ignore = {
    .variables = {"mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore__",
                  "MPI_FORTRAN_STATUSES_IGNORE", "mpi_fortran_statuses_ignore"},
    .pointers = {"MPI_F_STATUSES_IGNORE", "MPI_F08_STATUSES_IGNORE"}};

static void find_constant(struct constant *constant)
{
    for (int i = 0; i < CONSTANTS_MAX && constant->variables[i] != NULL; i++) {
        const void *const found = find_symbol(RTLD_DEFAULT, constant->variables[i]);
        if (found != NULL)
            constant->addresses[constant->address_count++] = found;
    }
    for (int i = 0; i < 2 && constant->pointers[i] != NULL; i++) {
        const void *const found = find_symbol(RTLD_DEFAULT, constant->pointers[i]);
        if (found != NULL)
            constant->set[constant->set_count++] = found;
    }
}

static bool are_found;

static void find_constants(void)
{
    find_constant(&in_place);
    find_constant(&status_ignore);
    find_constant(&statuses_ignore);
    __atomic_store_n(&are_found, true, __ATOMIC_RELEASE);
}

static bool is_constant(const struct constant *constant, const void *address)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT;
    if (__builtin_expect(!__atomic_load_n(&are_found, __ATOMIC_ACQUIRE), 0))
        (void)pthread_once(&found, find_constants);
    for (int i = 0; i < constant->address_count; i++)
        if (address == constant->addresses[i])
            return true;
    for (int i = 0; i < constant->set_count; i++)
        if (*constant->set[i] != NULL && address == *constant->set[i])
            return true;
    return false;
}

const void *fortran_buffer(const struct fortran_call *fortran, const void *argument)
{
    const bool is_descriptor = fortran->form == FORM_F08TS || fortran->form == FORM_F08TS_LARGE;
    /* The base address comes first in a descriptor. */
    const void *const address = is_descriptor ? *(const void *const *)argument : argument;
    return is_constant(&in_place, address) ? MPI_IN_PLACE : address;
}

bool fortran_ignores_status(const void *argument) { return is_constant(&status_ignore, argument); }

bool fortran_ignores_statuses(const void *argument)
{
    return is_constant(&statuses_ignore, argument);
}

const MPI_Status *fortran_status(const struct fortran_call *fortran, const void *statuses, int i,
                                 MPI_Status *status)
{
    const MPI_Fint *const at = (const MPI_Fint *)statuses + (size_t)i * FORTRAN_STATUS_SIZE;
    if (fortran_is_2008(fortran))
        memcpy(status, at, sizeof *status); /* a TYPE(MPI_Status) is C's */
    else
        PMPI_Status_f2c(at, status);
    return status;
}
