/*
 * What is put before the functions of MPI and the C library: a rank's beginning and end, its
 * readings of the clock, its sleeps.
 */
#include "disturbance.h"
#include "log.h"
#include "stops.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HOOK DISTURBANCE_VISIBLE

static struct settings settings;
static bool is_at_work;

/* Whether this thread is the one to be stopped. The model of storage makes it as quick as any other
   variable, which a preloaded library may have. */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_disturbed;

/* The next definition of a function, which other libraries may have put before theirs, too. */
static void *next_definition(const char *name)
{
    void *const definition = dlsym(RTLD_NEXT, name);
    if (definition == NULL) {
        (void)fprintf(stderr, "disturbance: there is no %s\n", name);
        abort();
    }
    return definition;
}

/* ---- readings -------------------------------------------------------------------------------- */

static int (*next_clock_gettime)(clockid_t clock, struct timespec *time);

/* Others' constructors may read the clock before ours is called. */
__attribute__((constructor)) static void find_clock(void)
{
    if (next_clock_gettime == NULL)
        *(void **)&next_clock_gettime = next_definition("clock_gettime");
}

static int64_t nanoseconds(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

int64_t clock_unstopped_ns(void)
{
    struct timespec now;
    (void)next_clock_gettime(CLOCK_MONOTONIC, &now);
    return nanoseconds(&now);
}

HOOK int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (next_clock_gettime == NULL)
        find_clock();
    const int status = next_clock_gettime(clock, time);
    if (!is_disturbed || clock != CLOCK_MONOTONIC || nanoseconds(time) < stops_due_ns())
        return status;
    const int64_t now_ns = stops_make(nanoseconds(time));
    *time = (struct timespec){.tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000};
    return status;
}

/* ---- sleeps ---------------------------------------------------------------------------------- */

HOOK int nanosleep(const struct timespec *asked, struct timespec *left)
{
    int (*next)(const struct timespec *, struct timespec *);
    *(void **)&next = next_definition("nanosleep");
    if (!is_disturbed)
        return next(asked, left);
    stops_sleep();
    const int status = next(asked, left);
    stops_wake();
    return status;
}

HOOK int clock_nanosleep(clockid_t clock, int flags, const struct timespec *asked,
                         struct timespec *left)
{
    int (*next)(clockid_t, int, const struct timespec *, struct timespec *);
    *(void **)&next = next_definition("clock_nanosleep");
    if (!is_disturbed)
        return next(clock, flags, asked, left);
    stops_sleep();
    const int status = next(clock, flags, asked, left);
    stops_wake();
    return status;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* A child of a rank is none. */
static void forget(void)
{
    is_at_work = false;
    is_disturbed = false;
}

static void begin(void)
{
    (void)pthread_atfork(NULL, NULL, forget);
    stops_begin(&settings);
    is_at_work = true;
    is_disturbed = settings.is_chosen;
}

/* At the end of a process that hasn't called MPI_Finalize, too. */
__attribute__((destructor)) static void end(void)
{
    if (!is_at_work)
        return;
    forget();
    stops_end();
    log_write(&settings);
}

/* MPI_SUCCESS is 0 in any library. */

HOOK int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***);
    *(void **)&next = next_definition("MPI_Init");
    const bool is_rank = settings_read(&settings);
    const int error = next(argc, argv);
    if (error == 0 && is_rank)
        begin();
    return error;
}

HOOK int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int (*next)(int *, char ***, int, int *);
    *(void **)&next = next_definition("MPI_Init_thread");
    const bool is_rank = settings_read(&settings);
    const int error = next(argc, argv, required, provided);
    if (error == 0 && is_rank)
        begin();
    return error;
}

HOOK int MPI_Finalize(void)
{
    int (*next)(void);
    *(void **)&next = next_definition("MPI_Finalize");
    end();
    return next();
}

/* ---- the model's ----------------------------------------------------------------------------- */

double disturbance_factor(int64_t now_ns) { return is_at_work ? stops_factor(now_ns) : 1.0; }

void disturbance_modelled_until(int64_t end_ns)
{
    if (is_disturbed)
        stops_modelled_until(end_ns);
}
