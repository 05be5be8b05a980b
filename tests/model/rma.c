/*
 * One-sided communication: the functions in rma.def. Operations are counted for their window and target, and the
 * synchronisation that completes them waits for them.
 */
#include "buffers.h"
#include "next.h"
#include "requests.h"
#include "statistics.h"
#include "windows.h"

#include <stdlib.h>
#include <string.h>

/* The arguments that all operations have. */
struct transfer {
    void *origin; /* of a put, only read */
    int count;
    MPI_Datatype datatype;
    int target;
    MPI_Win win;
};

/* For the damage of a put, which can't be done at the target: a copy of what it sends, the first byte of which is wrong.
   Returns what stands for the origin's address. */
static void *damaged_copy(const struct transfer *transfer, void **copy)
{
    MPI_Aint true_lb_bytes;
    MPI_Aint true_extent_bytes;
    MPI_Aint lb_bytes;
    MPI_Aint extent_bytes;
    PMPI_Type_get_true_extent(transfer->datatype, &true_lb_bytes, &true_extent_bytes);
    PMPI_Type_get_extent(transfer->datatype, &lb_bytes, &extent_bytes);
    const size_t span_bytes = (size_t)((transfer->count - 1) * extent_bytes + true_extent_bytes);
    unsigned char *bytes = malloc(span_bytes);
    if (bytes == NULL)
        model_abort("out of memory for a damaged copy");
    memcpy(bytes, (unsigned char *)transfer->origin + true_lb_bytes, span_bytes);
    bytes[0] ^= 0xff;
    *copy = bytes;
    return bytes - true_lb_bytes;
}

/* What is to be done to a put before it starts and to a get after it: origin may be replaced. */
static void put_damage(struct transfer *transfer, struct window *window, struct data *data)
{
    (void)data;
    if (byte_in(transfer->origin, transfer->count, transfer->datatype) == NULL || !data_damage_is_due())
        return;
    void *copy;
    transfer->origin = damaged_copy(transfer, &copy);
    window_remember_damage(window, transfer->target, NULL, copy);
}

/* With a request, its completion does the damage, else the synchronisation. */
static void get_damage(struct transfer *transfer, struct window *window, struct data *data)
{
    unsigned char *byte = byte_in(transfer->origin, transfer->count, transfer->datatype);
    if (byte == NULL || !data_damage_is_due())
        return;
    if (data != NULL)
        data_plan_local_damage(data, byte);
    else
        window_remember_damage(window, transfer->target, byte, NULL);
}

static bool is_modelled(int target)
{
    return model.rma != 0 && target != MPI_PROC_NULL;
}

/* The const of a put's origin is kept: all that is ever written is a copy. */
#define TRANSFER {(void *)origin, origin_count, origin_type, target, win}
#define ORIGIN_put const void *
#define ORIGIN_get void *
#define PARAMETERS(post)                                                                                          \
    ORIGIN_##post origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint displacement,          \
        int target_count, MPI_Datatype target_type, MPI_Win win
#define ARGUMENTS(address) address, origin_count, origin_type, target, displacement, target_count, target_type, win

#define ONE_SIDED(Name, name, post)                                                                    \
    INTERPOSED int MPI_##Name(PARAMETERS(post))                                                        \
    {                                                                                                  \
        if (!is_modelled(target))                                                                      \
            return next.Name(ARGUMENTS(origin));                                                       \
        const int64_t post_ns = clock_now_ns();                                                        \
        struct window *window = window_of(win);                                                        \
        struct timing timing;                                                                          \
        if (model.data != 0) {                                                                         \
            struct transfer transfer = TRANSFER;                                                       \
            if (model.corrupt != 0)                                                                    \
                post##_damage(&transfer, window, NULL);                                                \
            const int error = next.Name(ARGUMENTS(transfer.origin));                                   \
            if (error != MPI_SUCCESS)                                                                  \
                return error;                                                                          \
        }                                                                                              \
        timing_plan(&timing, OPERATION_##Name, bytes_of(origin_count, origin_type), post_ns);          \
        window_add(window, target, timing.autonomous_end_ns, timing.host_ns);                          \
        timing_spend(&timing, post_ns);                                                                \
        return MPI_SUCCESS;                                                                            \
    }

/* A synchronisation has no host part of an operation with a request to spin: that is for the request's wait. */
#define ONE_SIDED_REQUEST(Name, name, post)                                                            \
    INTERPOSED int MPI_##Name(PARAMETERS(post), MPI_Request *request)                                  \
    {                                                                                                  \
        if (!is_modelled(target))                                                                      \
            return next.Name(ARGUMENTS(origin), request);                                              \
        const int64_t post_ns = clock_now_ns();                                                        \
        struct window *window = window_of(win);                                                        \
        struct operation *operation = operation_take(request);                                         \
        if (model.data != 0) {                                                                         \
            struct transfer transfer = TRANSFER;                                                       \
            if (model.corrupt != 0)                                                                    \
                post##_damage(&transfer, window, &operation->data);                                    \
            const int error = next.Name(ARGUMENTS(transfer.origin), &operation->data.operation);       \
            if (error != MPI_SUCCESS)                                                                  \
                return operation_cancel(operation, request, error);                                    \
        }                                                                                              \
        timing_plan(&operation->timing, OPERATION_##Name, bytes_of(origin_count, origin_type), post_ns); \
        window_add(window, target, operation->timing.autonomous_end_ns, 0);                            \
        timing_spend(&operation->timing, post_ns);                                                     \
        return MPI_SUCCESS;                                                                            \
    }

/* A synchronisation: begun when what it completes is complete, then the real one, then spun to its end. */
struct synchronisation {
    struct series *series;
    struct window *window;
    int64_t completed_ns;
};

static void synchronisation_begin(struct synchronisation *synchronisation, enum operation_kind kind, MPI_Win win,
                                  int target, bool calls_real)
{
    const int64_t call_ns = clock_now_ns();
    synchronisation->series = series_find(kind, 0);
    synchronisation->window = window_of(win);
    synchronisation->completed_ns = window_completion_ns(synchronisation->window, target, call_ns);
    /* What others wait for mustn't come before what it announces. */
    if (calls_real)
        (void)timing_spin_until(synchronisation->completed_ns);
}

static void synchronisation_end(const struct synchronisation *synchronisation, int target)
{
    if (model.corrupt != 0 && target != NO_TARGET)
        window_do_damage(synchronisation->window, target);
    const int64_t completion_ns = synchronisation->completed_ns + synchronisation->series->duration_ns;
    int64_t *sample = series_next_extra(synchronisation->series);
    *sample = timing_spin_until(completion_ns + (int64_t)model.wait_ns) - completion_ns;
}

#define UNWRAP(...) __VA_ARGS__
#define SYNCHRONISATION(Name, name, parameters, arguments, completed_target, always_real)              \
    INTERPOSED int MPI_##Name(UNWRAP parameters)                                                       \
    {                                                                                                  \
        if (model.rma == 0)                                                                            \
            return next.Name(UNWRAP arguments);                                                        \
        const bool calls_real = (always_real) || model.data != 0;                                      \
        struct synchronisation synchronisation;                                                        \
        synchronisation_begin(&synchronisation, OPERATION_##Name, win, completed_target, calls_real);  \
        const int error = calls_real ? next.Name(UNWRAP arguments) : MPI_SUCCESS;                      \
        synchronisation_end(&synchronisation, completed_target);                                       \
        return error;                                                                                  \
    }

#include "rma.def"

INTERPOSED int MPI_Win_free(MPI_Win *win)
{
    if (model.rma != 0)
        window_forget(*win);
    return next.Win_free(win);
}
