/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of the functions that start and end MPI. */
#include "common/job/launcher.h"
#include "monitor/lib/count/communicators.h"
#include "monitor/lib/report/tool_before.h"
#include "monitor/lib/wrap/api.h"
#include "monitor/lib/wrap/environment.h"
#include "monitor/lib/wrap/life.h"
#include "monitor/lib/wrap/mpi_library.h"
#include "monitor/lib/wrap/next.h"
#include "monitor/lib/wrap/observed.h"
#include "monitor/lib/wrap/observers.h"
#include "monitor/lib/wrap/presence.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static bool saw_start, saw_session;

/* Ends the program if its MPI library can't take this library's calls. */
static void refuse_other_library(void)
{
    enum { NAME_SIZE = 64 };
    char built_for[NAME_SIZE], used[NAME_SIZE];
    const char *library;
    const int built = abi_of_build(), program = abi_of_program(&library);
    if (abi_fits(built, program))
        return;
    if (bc_launcher_is_first())
        (void)fprintf(
            stderr,
            "mpirtmon: this library was built for %s, the program for %s (%.60s): use the "
            "one that was built for that\n",
            abi_name(built, built_for, sizeof built_for), abi_name(program, used, sizeof used),
            library);
    /* Not exit, in which two MPI libraries in one process may crash. */
    (void)fflush(NULL);
    _exit(2);
}

uint64_t init_begin(void)
{
    refuse_other_library();
    saw_start = true;
    if (environment_asks())
        presence_begin(getenv("MPIRT_MONITOR"));
    return ticks_now();
}

int init_end(enum operation_kind kind, int error, uint64_t entry_ticks, const void *return_address)
{
    const uint64_t exit_ticks = ticks_now();
    if (error != MPI_SUCCESS || !mpi_is_active() || !environment_start())
        return error;
    site_enter(return_address);
    snapshots_begin_with(kind, exit_ticks - entry_ticks);
    return error;
}

/* Marks the report of an earlier run, so it isn't taken for this run's. Only in jobs: a program
   started by hand may be a reader of the report. */
__attribute__((constructor)) static void mark_old_report(void)
{
    if (environment_asks() && bc_launcher_processes() > 0 && bc_launcher_is_first() &&
        program_needs_mpi())
        environment_note(NULL);
}

#define AROUND "MPI opened with dlopen does that"

/* Returns the reason why there is no report, as far as was seen, or NULL if none is missing. */
static const char *find_reason(void)
{
    int is_used = 0, has_ended = 0;
    (void)PMPI_Initialized(&is_used);
    (void)PMPI_Finalized(&has_ended);
    if (environment_runs() && has_ended)
        return "MPI_Finalize was called around the monitor";
    if (is_used && !saw_start)
        return "MPI_Init was called around the monitor";
    if (!is_used && saw_session)
        return "the program used MPI by sessions only (MPI_Session_init), which can't be monitored";
    return NULL;
}

/* Tells the user why there is no report. Another tool's calls of PMPI_ can't be seen from here. */
__attribute__((destructor)) static void explain_missing_report(void)
{
    const char *const reason = environment_asks() && bc_launcher_is_first() ? find_reason() : NULL;
    if (reason == NULL)
        return;
    const struct tool_before before = tool_before();
    (void)fprintf(stderr, "mpirtmon: nothing was monitored: %s%s%s%s\n", reason,
                  saw_session ? "" : ": " AROUND, before.functions > 0 ? ", and so may " : "",
                  before.name);
    environment_note(reason);
}

/* Call sites are known by their addresses. Other threads may call MPI from another module at these
   as soon as this one is unloaded, and from this one until then. */
INTERPOSED int dlclose(void *handle)
{
    int (*const close_it)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    site_modules_changed();
    const int error = close_it(handle);
    site_modules_changed();
    return error;
}

INTERPOSED int MPI_Init(int *argc, char ***argv)
{
    if (is_of_fortran_layer(&next.Init, __builtin_return_address(0)))
        return next.Init(argc, argv);
    const uint64_t entry_ticks = init_begin();
    return init_end(OPERATION_Init, next.Init(argc, argv), entry_ticks,
                    __builtin_return_address(0));
}

INTERPOSED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    if (is_of_fortran_layer(&next.Init_thread, __builtin_return_address(0)))
        return next.Init_thread(argc, argv, required, provided);
    const uint64_t entry_ticks = init_begin();
    return init_end(OPERATION_Init_thread, next.Init_thread(argc, argv, required, provided),
                    entry_ticks, __builtin_return_address(0));
}

/* Counts the time of MPI_Finalize until all ranks have called it. */
static void wait_for_all(void)
{
    struct mpi_call call;
    call_enter(&call, OPERATION_Finalize);
    PMPI_Barrier(MPI_COMM_WORLD);
    call_left(&call, NO_COMMUNICATOR, 0);
}

void finalize_begin(const void *return_address)
{
    site_enter(return_address);
    if (environment_runs())
        wait_for_all();
    environment_end();
    monitors_abandon();
    communicators_end();
}

int finalize_end(int error)
{
    presence_end();
    return error;
}

INTERPOSED int MPI_Finalize(void)
{
    if (is_of_fortran_layer(&next.Finalize, __builtin_return_address(0)))
        return next.Finalize();
    finalize_begin(__builtin_return_address(0));
    return finalize_end(next.Finalize());
}

void pcontrol_begin(int level)
{
    if (level == 1)
        environment_switch(true);
}

void pcontrol_end(int level)
{
    if (level == 0)
        environment_switch(false);
}

/* Wraps the switch of the monitor of the whole run (0: off, 1: on). Arguments after the level can't
   be passed on. Both calls are counted. */
INTERPOSED int MPI_Pcontrol(const int level, ...)
{
    struct mpi_call call;
    if (is_of_fortran_layer(&next.Pcontrol, __builtin_return_address(0)))
        return next.Pcontrol(level);
    pcontrol_begin(level);
    site_enter(__builtin_return_address(0));
    const bool entered = other_enter(&call);
    const int error = other_left(&call, entered, next.Pcontrol(level));
    pcontrol_end(level);
    return error;
}

#if MPI_VERSION >= 4
void session_begin(void)
{
    refuse_other_library();
    saw_session = true;
}

INTERPOSED int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    struct mpi_call call;
    if (is_of_fortran_layer(&next.Session_init, __builtin_return_address(0)))
        return next.Session_init(info, handler, session);
    session_begin();
    site_enter(__builtin_return_address(0));
    const bool entered = other_enter(&call);
    return other_left(&call, entered, next.Session_init(info, handler, session));
}
#endif
