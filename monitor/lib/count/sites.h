/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites: the places in the program at which MPI is called (flag `site`).
 *
 * A site is the address to which the outermost MPI call of a thread returns, with flag values 2
 * and 3 also the addresses to which its callers return. Each pair of a site and a kind of operation
 * or call has a number, by which snapshots count. Addresses are found when a site is met first, as
 * a module (program or shared object) and an address in its file. They stay valid if the module is
 * unloaded: site_modules_changed makes addresses be looked up again.
 *
 * An operation's calls, bytes and total time count at the site that started it, and the time of
 * each call at the site of the call: that of a wait at the wait's line. A site of an operation also
 * has the time that waits elsewhere spent for it.
 *
 * Memory is fixed: there are SITES_MAX numbers. Further sites count together as OTHER_SITES, with a
 * warning. All functions are local. "Needs the lock": the caller has the monitor's lock.
 */
#pragma once

#include "monitor/lib/count/inside.h"
#include "monitor/lib/count/kinds.h"
#include "monitor/lib/mpirtmon.h"

enum {
    OTHER_SITES,     /* sites without room */
    ANY_THREAD_SITE, /* calls of functions that any thread may call, whose site isn't known */
    SITES_FIRST,     /* lowest number of a site with counts of its own */
    SITES_MAX = 4096
};

enum { SITE_TEXT = sizeof((MPIX_Monitor_row *)0)->site };

/* Counts of a kind of operation or call at a site. Times are in ticks, minus the monitor's own. */
struct site_count {
    int64_t calls, completed, bytes;
    double total_ticks;    /* of operations that started here, from start to end */
    uint64_t max_ticks;    /* of one of them, or inside one call that is no operation */
    uint64_t inside_ticks; /* inside MPI, in calls here */
    uint64_t wait_ticks;   /* in calls, here or elsewhere, that completed these operations */
};

/* Notes where the thread's outermost call returns to. Each wrapper that the program calls, in any
   language, calls it before it begins an operation or call:
   site_enter(__builtin_return_address(0)). Inner calls count at the site of the outermost one. */
__attribute__((always_inline)) static inline void site_enter(const void *return_address)
{
    if (are_sites_counted() && inside.depth == 0) {
        inside.return_address = return_address;
        inside.callers = 0;
    }
}

/* Finds the site of the thread's call in progress, for this kind. Takes a microsecond if sites have
   several callers. Takes the lock, but not while it unwinds the stack and looks up addresses. */
void site_find(enum operation_kind kind);

static inline bool site_is_found(enum operation_kind kind)
{
    return inside.callers > 0 && inside.site_kind == kind;
}

/* Finds the site, if sites are counted, unless it is known. Call it before the lock is taken. */
static inline void site_prepare(enum operation_kind kind)
{
    if (are_sites_counted() && !site_is_found(kind))
        site_find(kind);
}

/* Returns the number of the site that site_prepare has found; OTHER_SITES if there was no room, or
   if sites aren't counted. */
static inline uint16_t site_now(enum operation_kind kind)
{
    return are_sites_counted() && site_is_found(kind) ? inside.site : OTHER_SITES;
}

/* Sets the number of callers that sites distinguish from now on, the largest that any active
   snapshot asks for. Needs the lock. */
void sites_set_callers(int callers);

/* Notes that modules may have been unloaded, so that addresses may mean something else. */
void site_modules_changed(void);

/* Returns the kind of a numbered site, and writes its text, as in MPIX_Monitor_row. */
enum operation_kind site_kind(int number);
void site_text(int number, char text[SITE_TEXT]);

/* Returns how many numbers have been given out, and how many modules are known. */
int sites_used(void);
int site_modules(void);

/* Return the name and the path of a module. */
const char *site_module_name(int module);
const char *site_module_path(int module);
