#include "api.h"

#include "life.h"
#include "mpirtmon.h"
#include "next.h"
#include "report.h"
#include "rows.h"
#include "snapshot.h"
#include "warnings.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* Snapshots that are active, and the rows of the last that ended. */
enum { KEPT_MAX = 64, PLACES_MAX = MPIX_MONITOR_ACTIVE_MAX + KEPT_MAX };

struct place {
    int64_t serial;            /* of the request; 0: nothing here */
    struct snapshot *snapshot; /* NULL when it has ended, or is being ended */
    int64_t ended;             /* the number of its end, when that is over */
    struct rows rows;          /* then */
    struct warnings warnings;  /* and what there is to say about them */
};

static struct place places[PLACES_MAX];
static int64_t last_serial, last_end;
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

static struct place *find_place(int64_t serial)
{
    for (int i = 0; i < PLACES_MAX && serial > 0; i++)
        if (places[i].serial == serial)
            return &places[i];
    return NULL;
}

/* An empty place, made by giving up the oldest rows if need be; NULL if there are none. */
static struct place *make_place(void)
{
    struct place *oldest = NULL;
    for (int i = 0; i < PLACES_MAX; i++) {
        struct place *const place = &places[i];
        if (place->serial == 0)
            return place;
        if (place->ended > 0 && (oldest == NULL || place->ended < oldest->ended))
            oldest = place;
    }
    if (oldest == NULL)
        return NULL;
    rows_free(&oldest->rows);
    *oldest = (struct place){0};
    return oldest;
}

/* Without a report nobody who doesn't ask is told that the handle asks for nothing: a line on
 * stderr, once a job. */
static void say_if_nothing_is_monitored(const MPIX_Monitor *handle)
{
    static bool said;
    struct warnings warnings = {.count = 0};
    warn_of_handle(handle, &warnings);
    if (warnings.count == 0 || __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        (void)fprintf(stderr, "mpirtmon: warning: %s\n", warnings.warning[0].text);
}

INTERPOSED int MPIX_Start_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle, FILE *f)
{
    if (request == NULL || handle == NULL || handle->large_bytes < 0 ||
        !(handle->timeout_us >= 0) || isinf(handle->timeout_us))
        return MPIX_MONITOR_ERR_ARGUMENT;
    if (!mpi_is_there())
        return MPIX_MONITOR_ERR_MPI;
    struct snapshot *snapshot;
    const int error = snapshot_start(handle, f, &snapshot);
    if (error != MPIX_MONITOR_SUCCESS)
        return error;
    (void)pthread_mutex_lock(&places_lock);
    struct place *const place = make_place();
    if (place != NULL) {
        place->serial = snapshot->serial = ++last_serial;
        place->snapshot = snapshot;
        request->serial = last_serial;
    }
    (void)pthread_mutex_unlock(&places_lock);
    if (place == NULL) {
        /* So many threads are ending theirs. */
        snapshot_stop(snapshot);
        snapshot_free(snapshot);
        return MPIX_MONITOR_ERR_LIMIT;
    }
    if (f == NULL)
        say_if_nothing_is_monitored(handle);
    return MPIX_MONITOR_SUCCESS;
}

/* Takes an active snapshot out of its place, to be ended. */
static int take_snapshot(const MPIX_Monitor_request *request, const MPIX_Monitor *handle,
                         struct snapshot **snapshot)
{
    int error = MPIX_MONITOR_SUCCESS;
    (void)pthread_mutex_lock(&places_lock);
    struct place *const place = find_place(request->serial);
    if (place == NULL)
        error = request->serial > 0 && request->serial <= last_serial ? MPIX_MONITOR_ERR_ENDED
                                                                      : MPIX_MONITOR_ERR_REQUEST;
    else if (place->snapshot == NULL)
        error = MPIX_MONITOR_ERR_ENDED;
    else if (place->snapshot->handle != handle)
        error = MPIX_MONITOR_ERR_HANDLE;
    else {
        *snapshot = place->snapshot;
        place->snapshot = NULL;
    }
    (void)pthread_mutex_unlock(&places_lock);
    return error;
}

INTERPOSED int MPIX_End_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle)
{
    if (request == NULL || handle == NULL)
        return MPIX_MONITOR_ERR_ARGUMENT;
    if (!mpi_is_there())
        return MPIX_MONITOR_ERR_MPI;
    struct snapshot *snapshot;
    int error = take_snapshot(request, handle, &snapshot);
    if (error != MPIX_MONITOR_SUCCESS)
        return error;
    snapshot_stop(snapshot);
    struct rows rows = {0};
    if (!rows_of_snapshot(snapshot, &rows))
        error = MPIX_MONITOR_ERR_MEMORY;
    if (snapshot->file != NULL) {
        /* Also without rows: the other ranks wait for this one. */
        const int report_error = report_write(snapshot, &rows);
        if (error == MPIX_MONITOR_SUCCESS)
            error = report_error;
    }
    (void)pthread_mutex_lock(&places_lock);
    struct place *const place = find_place(snapshot->serial);
    place->rows = rows;
    warnings_of_snapshot(snapshot, &rows, &place->warnings);
    place->ended = ++last_end;
    (void)pthread_mutex_unlock(&places_lock);
    snapshot_free(snapshot);
    *handle = (MPIX_Monitor)MPIX_MONITOR_DEFAULTS;
    return error;
}

/* The place of a snapshot that has ended. The caller has the lock. */
static int find_ended(const MPIX_Monitor_request *request, const struct place **place)
{
    *place = find_place(request->serial);
    if (*place == NULL)
        return MPIX_MONITOR_ERR_REQUEST;
    return (*place)->ended == 0 ? MPIX_MONITOR_ERR_ACTIVE : MPIX_MONITOR_SUCCESS;
}

INTERPOSED int MPIX_Get_monitor(const MPIX_Monitor_request *request, MPIX_Monitor_row *rows,
                                int capacity, int *count)
{
    if (request == NULL || count == NULL || capacity < 0 || (rows == NULL && capacity > 0))
        return MPIX_MONITOR_ERR_ARGUMENT;
    (void)pthread_mutex_lock(&places_lock);
    const struct place *place;
    const int error = find_ended(request, &place);
    if (error == MPIX_MONITOR_SUCCESS) {
        *count = place->rows.count;
        for (int i = 0; i < place->rows.count && i < capacity; i++)
            rows[i] = place->rows.rows[i].row;
    }
    (void)pthread_mutex_unlock(&places_lock);
    return error;
}

INTERPOSED int MPIX_Get_monitor_warnings(const MPIX_Monitor_request *request,
                                         MPIX_Monitor_warning *warnings, int capacity, int *count)
{
    if (request == NULL || count == NULL || capacity < 0 || (warnings == NULL && capacity > 0))
        return MPIX_MONITOR_ERR_ARGUMENT;
    (void)pthread_mutex_lock(&places_lock);
    const struct place *place;
    const int error = find_ended(request, &place);
    if (error == MPIX_MONITOR_SUCCESS) {
        *count = place->warnings.count;
        for (int i = 0; i < place->warnings.count && i < capacity; i++)
            warnings[i] = place->warnings.warning[i];
    }
    (void)pthread_mutex_unlock(&places_lock);
    return error;
}

INTERPOSED const char *MPIX_Monitor_error_string(int code)
{
    switch (code) {
    case MPIX_MONITOR_SUCCESS:
        return "no error";
    case MPIX_MONITOR_ERR_ARGUMENT:
        return "an argument is NULL or out of range";
    case MPIX_MONITOR_ERR_MPI:
        return "MPI is not initialised, or finalised already";
    case MPIX_MONITOR_ERR_REQUEST:
        return "no snapshot was started with this request, or its rows are no longer kept";
    case MPIX_MONITOR_ERR_ENDED:
        return "the snapshot has ended already";
    case MPIX_MONITOR_ERR_ACTIVE:
        return "the snapshot has not ended yet";
    case MPIX_MONITOR_ERR_HANDLE:
        return "the snapshot was started with another handle";
    case MPIX_MONITOR_ERR_LIMIT:
        return "too many snapshots are active";
    case MPIX_MONITOR_ERR_MEMORY:
        return "not enough memory";
    case MPIX_MONITOR_ERR_OUTPUT:
        return "the report could not be written in full";
    default:
        return "not a code of the monitor";
    }
}

void monitors_abandon(void)
{
    int abandoned = 0;
    (void)pthread_mutex_lock(&places_lock);
    for (int i = 0; i < PLACES_MAX; i++)
        if (places[i].snapshot != NULL) {
            snapshot_stop(places[i].snapshot);
            snapshot_free(places[i].snapshot);
            places[i] = (struct place){0};
            abandoned++;
        }
    (void)pthread_mutex_unlock(&places_lock);
    int rank = 0;
    if (abandoned > 0)
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (abandoned > 0 && rank == 0)
        (void)fprintf(stderr,
                      "mpirtmon: never ended, so without a report: %d of the program's monitors\n",
                      abandoned);
}
