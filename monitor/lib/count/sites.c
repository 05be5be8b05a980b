/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/sites.h"

#include "monitor/lib/count/handles.h"
#include "monitor/lib/count/loaded_object.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

enum { NUMBERS_BITS = 13, MODULES_MAX = 256, UNKNOWN_MODULE = -1, NAME_SIZE = 64 };

_Static_assert(SITES_MAX <= 3 << (NUMBERS_BITS - 2), "the table has room for them all");

/* Address in the file of a module. */
struct module_address {
    int32_t module;
    uint64_t offset;
};

static struct site {
    enum operation_kind kind;
    int callers;
    struct module_address address[MPIX_MONITOR_CALLERS_MAX]; /* the innermost first */
} sites[SITES_MAX] = {[ANY_THREAD_SITE] = {.kind = OPERATION_OTHER_MPI}};
static int used = SITES_FIRST; /* atomic: reports read it without the lock */

/* Numbers of sites by kind and addresses. */
static struct number {
    uint64_t key; /* 0: the entry is empty */
    int site;
    bool is_known;
} numbers[1 << NUMBERS_BITS];
static int numbers_used;

static struct module {
    char path[SITE_TEXT];
    char name[NAME_SIZE];
} modules[MODULES_MAX];
static int modules_used; /* atomic, as `used` */

static int callers_asked = 1;     /* atomic */
static bool modules_have_changed; /* atomic: since the numbers were found */
static bool numbers_were_cleared;

/* ---- modules --------------------------------------------------------------------------------- */

/* Completes the path of a module: that of the program is empty, others may be relative. */
static void complete_path(char *path, size_t size)
{
    char found[4096];
    if (path[0] == '\0') {
        const ssize_t length = readlink("/proc/self/exe", path, size - 1);
        path[length > 0 ? length : 0] = '\0';
    } else if (path[0] != '/' && realpath(path, found) != NULL) {
        (void)snprintf(path, size, "%s", found);
    }
}

/* Returns the number of a module. Needs the lock. */
static int module_of(const char *path)
{
    int module = 0;
    while (module < modules_used && strcmp(modules[module].path, path) != 0)
        module++;
    if (module == MODULES_MAX || strlen(path) >= sizeof modules[module].path)
        return UNKNOWN_MODULE;
    if (module == modules_used) {
        const char *const slash = strrchr(path, '/');
        strcpy(modules[module].path, path);
        (void)snprintf(modules[module].name, sizeof modules[module].name, "%.63s",
                       slash != NULL ? slash + 1 : path);
        __atomic_store_n(&modules_used, modules_used + 1, __ATOMIC_RELEASE);
    }
    return module;
}

/* Returns the address of the call that returns to an address: its last byte. */
static struct module_address address_of_call(const void *return_address)
{
    const uintptr_t address = (uintptr_t)return_address - 1;
    struct loaded_object object;
    if (!loaded_object_find(address, &object))
        return (struct module_address){.module = UNKNOWN_MODULE};
    complete_path(object.path, sizeof object.path);
    monitor_lock();
    const int module = module_of(object.path);
    monitor_unlock();
    return (struct module_address){module, module == UNKNOWN_MODULE ? 0 : address - object.base};
}

/* ---- callers --------------------------------------------------------------------------------- */

enum { MONITOR_FRAMES_MAX = 64 }; /* between this file and the program */

struct walk {
    const void *address[MPIX_MONITOR_CALLERS_MAX];
    int callers, wanted, frames;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data)
{
    struct walk *const walk = data;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    const void *const address = (const void *)_Unwind_GetIP(context);
    if (walk->callers == 0 && address != inside.return_address)
        return ++walk->frames < MONITOR_FRAMES_MAX ? _URC_NO_REASON : _URC_END_OF_STACK;
    if (address != NULL)
        walk->address[walk->callers++] = address;
    return address != NULL && walk->callers < walk->wanted ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* The unwinding tables of the modules describe their frames, so the program needs no frame
   pointers. */
static void find_callers(void)
{
    struct walk walk = {.wanted = __atomic_load_n(&callers_asked, __ATOMIC_RELAXED)};
    if (walk.wanted > 1)
        (void)_Unwind_Backtrace(step, &walk);
    if (walk.callers == 0)
        walk.address[walk.callers++] = inside.return_address;
    for (int i = 1; i < walk.callers; i++)
        inside.outer_callers[i - 1] = walk.address[i];
    inside.callers = (uint8_t)walk.callers;
}

/* ---- sites ----------------------------------------------------------------------------------- */

static bool are_equal(const struct site *a, const struct site *b)
{
    bool equal = a->kind == b->kind && a->callers == b->callers;
    for (int i = 0; equal && i < a->callers; i++)
        equal = a->address[i].module == b->address[i].module &&
                a->address[i].offset == b->address[i].offset;
    return equal;
}

static void forget_addresses(void)
{
    __atomic_store_n(&modules_have_changed, false, __ATOMIC_RELAXED);
    memset(numbers, 0, sizeof numbers);
    numbers_used = 0;
    numbers_were_cleared = true;
}

/* Returns the entry of a key, or NULL if there is no room. Needs the lock. */
static struct number *number_of(uint64_t key)
{
    if (__builtin_expect(__atomic_load_n(&modules_have_changed, __ATOMIC_RELAXED), 0))
        forget_addresses();
    return table_add(numbers, sizeof *numbers, NUMBERS_BITS, &numbers_used, key + 1);
}

/* Returns the number of a site that no address of its key has yet. Needs the lock. */
static int enter(const struct site *site)
{
    int number = numbers_were_cleared ? SITES_FIRST : used;
    while (number < used && !are_equal(&sites[number], site))
        number++;
    if (number == SITES_MAX)
        return OTHER_SITES;
    if (number == used) {
        sites[used] = *site;
        __atomic_store_n(&used, used + 1, __ATOMIC_RELEASE);
    }
    return number;
}

/* Returns the number of a site whose addresses are new. Takes the lock. */
static int look_up(enum operation_kind kind, uint64_t key)
{
    struct site site = {.kind = kind, .callers = inside.callers};
    site.address[0] = address_of_call(inside.return_address);
    for (int i = 1; i < site.callers; i++)
        site.address[i] = address_of_call(inside.outer_callers[i - 1]);
    monitor_lock();
    struct number *const number = number_of(key);
    if (number != NULL && !number->is_known) {
        number->site = enter(&site);
        number->is_known = true;
    }
    const int found = number != NULL ? number->site : OTHER_SITES;
    monitor_unlock();
    return found;
}

void site_find(enum operation_kind kind)
{
    if (inside.callers == 0)
        find_callers();
    uint64_t key = (uint64_t)(uintptr_t)inside.return_address << 8 | kind;
    for (int i = 1; i < inside.callers; i++)
        key = hash(key, &inside.outer_callers[i - 1], sizeof *inside.outer_callers);
    monitor_lock();
    const struct number *const number = number_of(key);
    const bool is_new = number != NULL && !number->is_known;
    const int found = number != NULL ? number->site : OTHER_SITES;
    monitor_unlock();
    inside.site = (uint16_t)(is_new ? look_up(kind, key) : found);
    inside.site_kind = (uint8_t)kind;
}

void sites_set_callers(int callers) { __atomic_store_n(&callers_asked, callers, __ATOMIC_RELAXED); }

void site_modules_changed(void) { __atomic_store_n(&modules_have_changed, true, __ATOMIC_RELAXED); }

/* ---- reports --------------------------------------------------------------------------------- */

enum operation_kind site_kind(int number) { return sites[number].kind; }

void site_text(int number, char text[SITE_TEXT])
{
    const struct site *const site = &sites[number];
    int length = 0;
    (void)snprintf(text, SITE_TEXT, "%s", number == OTHER_SITES ? "(other sites)" : "NA");
    for (int i = 0; i < site->callers; i++) {
        const struct module_address *const address = &site->address[i];
        const char *const behind = i > 0 ? " < " : "";
        length +=
            address->module == UNKNOWN_MODULE
                ? snprintf(text + length, (size_t)(SITE_TEXT - length), "%sunknown", behind)
                : snprintf(text + length, (size_t)(SITE_TEXT - length), "%s%s+0x%llx", behind,
                           modules[address->module].name, (unsigned long long)address->offset);
    }
}

int sites_used(void) { return __atomic_load_n(&used, __ATOMIC_ACQUIRE); }
int site_modules(void) { return __atomic_load_n(&modules_used, __ATOMIC_ACQUIRE); }
const char *site_module_name(int module) { return modules[module].name; }
const char *site_module_path(int module) { return modules[module].path; }
