/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/languages.h"
#include "monitor/lib/count/own_ticks.h"
#include "monitor/lib/count/requests.h"
#include "monitor/lib/count/type_sizes.h"
#include "monitor/lib/count/windows.h"
#include "monitor/lib/report/report.h"
#include "monitor/lib/wrap/api.h"
#include "monitor/lib/wrap/next.h"

#include <math.h>
#include <pthread.h>

static pthread_once_t made_ready = PTHREAD_ONCE_INIT, measured = PTHREAD_ONCE_INIT;

static void make_ready(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    monitor_lock_needed = level == MPI_THREAD_MULTIPLE;
    communicators_start();
    type_sizes_start();
    integers_start();
}

static int first_site; /* flag `site` of the first handle */

/* Measures the monitor and MPI's requests. Without a snapshot the monitor sends nothing, not
   even to itself. */
static void measure(void)
{
    if (communicators_have_room(1))
        requests_start();
    own_ticks_measure(first_site);
}

bool mpi_is_active(void)
{
    int initialised = 0, finalised = 0;
    PMPI_Initialized(&initialised);
    PMPI_Finalized(&finalised);
    if (!initialised || finalised)
        return false;
    (void)pthread_once(&made_ready, make_ready);
    return true;
}

enum { KEPT_MAX = 64, SLOTS_MAX = MPIX_MONITOR_ACTIVE_MAX + KEPT_MAX };

struct slot {
    int64_t serial;            /* of the request; 0: the slot is empty */
    struct snapshot *snapshot; /* NULL once its end has begun */
    int64_t ended;             /* once it has ended: number of snapshots that had ended by then */
    struct rows rows;          /* set once it has ended, with the warnings */
    struct warnings warnings;
};

static struct slot slots[SLOTS_MAX];
static int64_t last_serial, last_end;
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

static struct slot *find_slot(int64_t serial)
{
    for (int i = 0; i < SLOTS_MAX && serial > 0; i++)
        if (slots[i].serial == serial)
            return &slots[i];
    return NULL;
}

/* Returns an empty slot, if necessary that of the oldest rows, or NULL if no slot has rows. */
static struct slot *make_slot(void)
{
    struct slot *oldest = NULL;
    for (int i = 0; i < SLOTS_MAX; i++) {
        struct slot *const slot = &slots[i];
        if (slot->serial == 0)
            return slot;
        if (slot->ended > 0 && (oldest == NULL || slot->ended < oldest->ended))
            oldest = slot;
    }
    if (oldest == NULL)
        return NULL;
    rows_free(&oldest->rows);
    *oldest = (struct slot){0};
    return oldest;
}

/* Writes a line on stderr, once per job: without a report, the program wouldn't learn that its
   handle asks for nothing. */
static void warn_of_empty_handle(const MPIX_Monitor *handle)
{
    static bool warned;
    struct warnings warnings = {.count = 0};
    warn_of_handle(handle, &warnings);
    if (warnings.count == 0 || __atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
        return;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        (void)fprintf(stderr, "mpirtmon: warning: %s\n", warnings.warning[0].text);
}

static bool start(struct snapshot *snapshot)
{
    communicators_enter_remembered();
    monitor_lock();
    if (!is_anything_monitored()) {
        /* Operations in flight may have ended uncounted, and their handles may have been used
           again. */
        requests_clear();
        windows_clear();
        communicators_tidy();
    }
    windows_unsure();
    if (snapshot->asked.profile && snapshot->asked.depth && !are_depths_counted()) {
        requests_count_depths();
        windows_count_depths();
        communicators_count_depth();
    }
    const bool started = snapshot_start(snapshot);
    monitor_unlock();
    return started;
}

/* Gives the snapshot a slot and the request its number. False if other threads are ending the
   snapshots of all slots. */
static bool enter(struct snapshot *snapshot, MPIX_Monitor_request *request)
{
    (void)pthread_mutex_lock(&slots_lock);
    struct slot *const slot = make_slot();
    if (slot != NULL) {
        slot->serial = snapshot->serial = request->serial = ++last_serial;
        slot->snapshot = snapshot;
    }
    (void)pthread_mutex_unlock(&slots_lock);
    return slot != NULL;
}

INTERPOSED int MPIX_Start_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle, FILE *f)
{
    if (request == NULL || handle == NULL || handle->large_bytes < 0 ||
        !(handle->timeout_us >= 0) || isinf(handle->timeout_us) || handle->site < 0 ||
        handle->site > MPIX_MONITOR_CALLERS_MAX)
        return MPIX_MONITOR_ERR_ARGUMENT;
    if (!mpi_is_active())
        return MPIX_MONITOR_ERR_MPI;
    if (latest_epoch == 0)
        first_site = handle->profile ? handle->site : 0;
    (void)pthread_once(&measured, measure);
    struct snapshot *const snapshot = snapshot_create(handle, f);
    if (snapshot == NULL)
        return MPIX_MONITOR_ERR_MEMORY;
    if (!start(snapshot) || !enter(snapshot, request)) {
        snapshot_stop(snapshot);
        snapshot_free(snapshot);
        return MPIX_MONITOR_ERR_LIMIT;
    }
    if (f == NULL)
        warn_of_empty_handle(handle);
    return MPIX_MONITOR_SUCCESS;
}

static int take_snapshot(const MPIX_Monitor_request *request, const MPIX_Monitor *handle,
                         struct snapshot **snapshot)
{
    int error = MPIX_MONITOR_SUCCESS;
    (void)pthread_mutex_lock(&slots_lock);
    struct slot *const slot = find_slot(request->serial);
    if (slot == NULL)
        error = request->serial > 0 && request->serial <= last_serial ? MPIX_MONITOR_ERR_ENDED
                                                                      : MPIX_MONITOR_ERR_REQUEST;
    else if (slot->snapshot == NULL)
        error = MPIX_MONITOR_ERR_ENDED;
    else if (slot->snapshot->handle != handle)
        error = MPIX_MONITOR_ERR_HANDLE;
    else {
        *snapshot = slot->snapshot;
        slot->snapshot = NULL;
    }
    (void)pthread_mutex_unlock(&slots_lock);
    return error;
}

INTERPOSED int MPIX_End_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle)
{
    if (request == NULL || handle == NULL)
        return MPIX_MONITOR_ERR_ARGUMENT;
    if (!mpi_is_active())
        return MPIX_MONITOR_ERR_MPI;
    struct snapshot *snapshot;
    int error = take_snapshot(request, handle, &snapshot);
    if (error != MPIX_MONITOR_SUCCESS)
        return error;
    snapshot_stop(snapshot);
    struct rows rows;
    const bool has_rows = rows_of_snapshot(snapshot, &rows);
    /* Even without rows: the other ranks wait for this one. */
    if (snapshot->file != NULL)
        error = report_write(snapshot, &rows);
    if (!has_rows)
        error = MPIX_MONITOR_ERR_MEMORY;
    (void)pthread_mutex_lock(&slots_lock);
    struct slot *const slot = find_slot(snapshot->serial);
    slot->rows = rows;
    warnings_of_snapshot(snapshot, &rows, &slot->warnings);
    slot->ended = ++last_end;
    (void)pthread_mutex_unlock(&slots_lock);
    snapshot_free(snapshot);
    *handle = (MPIX_Monitor)MPIX_MONITOR_DEFAULTS;
    return error;
}

/* Locks the slots, also if it fails, checks the arguments, and finds the slot of an ended
   snapshot. */
static int lock_ended(const MPIX_Monitor_request *request, const void *copies, int capacity,
                      const int *count, const struct slot **slot)
{
    (void)pthread_mutex_lock(&slots_lock);
    if (request == NULL || count == NULL || capacity < 0 || (copies == NULL && capacity > 0))
        return MPIX_MONITOR_ERR_ARGUMENT;
    *slot = find_slot(request->serial);
    if (*slot == NULL)
        return MPIX_MONITOR_ERR_REQUEST;
    return (*slot)->ended == 0 ? MPIX_MONITOR_ERR_ACTIVE : MPIX_MONITOR_SUCCESS;
}

INTERPOSED int MPIX_Get_monitor(const MPIX_Monitor_request *request, MPIX_Monitor_row *rows,
                                int capacity, int *count)
{
    const struct slot *slot;
    const int error = lock_ended(request, rows, capacity, count, &slot);
    if (error == MPIX_MONITOR_SUCCESS) {
        MPIX_Monitor_row row;
        int pair = 0;
        *count = slot->rows.count;
        for (int i = 0; i < slot->rows.count && i < capacity; i++)
            rows[i] = slot->rows.rows[i].row;
        for (; pairs_next_row(&slot->rows.pairs, &pair, &row); ++*count)
            if (*count < capacity)
                rows[*count] = row;
    }
    (void)pthread_mutex_unlock(&slots_lock);
    return error;
}

INTERPOSED int MPIX_Get_monitor_warnings(const MPIX_Monitor_request *request,
                                         MPIX_Monitor_warning *warnings, int capacity, int *count)
{
    const struct slot *slot;
    const int error = lock_ended(request, warnings, capacity, count, &slot);
    if (error == MPIX_MONITOR_SUCCESS) {
        *count = slot->warnings.count;
        for (int i = 0; i < slot->warnings.count && i < capacity; i++)
            warnings[i] = slot->warnings.warning[i];
    }
    (void)pthread_mutex_unlock(&slots_lock);
    return error;
}

INTERPOSED const char *MPIX_Monitor_error_string(int code)
{
    static const char *const texts[] = {
        [MPIX_MONITOR_SUCCESS] = "no error",
        [MPIX_MONITOR_ERR_ARGUMENT] = "an argument is NULL or out of range",
        [MPIX_MONITOR_ERR_MPI] = "MPI is not initialised, or finalised already",
        [MPIX_MONITOR_ERR_REQUEST] =
            "no snapshot was started with this request, or its rows are no longer kept",
        [MPIX_MONITOR_ERR_ENDED] = "the snapshot has ended already",
        [MPIX_MONITOR_ERR_ACTIVE] = "the snapshot has not ended yet",
        [MPIX_MONITOR_ERR_HANDLE] = "the snapshot was started with another handle",
        [MPIX_MONITOR_ERR_LIMIT] = "too many snapshots are active",
        [MPIX_MONITOR_ERR_MEMORY] = "not enough memory",
        [MPIX_MONITOR_ERR_OUTPUT] = "the report could not be written in full",
        [MPIX_MONITOR_ERR_COMMUNICATORS] = "MPI has no room for the communicators of a report",
    };
    return code >= 0 && code <= MPIX_MONITOR_ERR_COMMUNICATORS ? texts[code]
                                                               : "not a code of the monitor";
}

bool monitor_switch(const MPIX_Monitor_request *request, bool on)
{
    (void)pthread_mutex_lock(&slots_lock);
    const struct slot *const slot = find_slot(request->serial);
    struct snapshot *const snapshot = slot != NULL ? slot->snapshot : NULL;
    bool is_done = snapshot != NULL;
    if (is_done && !on) {
        snapshot_stop(snapshot);
    } else if (is_done) {
        const uint64_t so_far_ticks = snapshot->end_ticks - snapshot->start_ticks;
        is_done = start(snapshot);
        if (is_done)
            snapshot->start_ticks -= so_far_ticks;
    }
    (void)pthread_mutex_unlock(&slots_lock);
    return is_done;
}

int monitors_drop(void)
{
    int dropped = 0;
    (void)pthread_mutex_lock(&slots_lock);
    for (int i = 0; i < SLOTS_MAX; i++)
        if (slots[i].snapshot != NULL) {
            snapshot_stop(slots[i].snapshot);
            snapshot_free(slots[i].snapshot);
            slots[i] = (struct slot){0};
            dropped++;
        }
    (void)pthread_mutex_unlock(&slots_lock);
    return dropped;
}

void monitors_abandon(void)
{
    const int abandoned = monitors_drop();
    int rank = -1;
    if (abandoned > 0)
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        (void)fprintf(stderr,
                      "mpirtmon: never ended, so without a report: %d of the program's monitors\n",
                      abandoned);
}
