/*
 * One-sided communication: the functions in rma.def. Operations are counted for their window and
 * target, and the synchronisation that completes them waits for them.
 */
#include "buffers.h"
#include "locks.h"
#include "next.h"
#include "requests.h"
#include "statistics.h"
#include "windows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* For the damage of what is sent, which can't be done at the target: a copy of it, the first byte
   of which is wrong, until the synchronisation. Returns what stands for the origin's address. */
static const void *damaged_origin(const void *origin, int count, MPI_Datatype datatype,
                                  struct window *window, int target)
{
    MPI_Aint true_lb_bytes;
    MPI_Aint true_extent_bytes;
    MPI_Aint lb_bytes;
    MPI_Aint extent_bytes;
    PMPI_Type_get_true_extent(datatype, &true_lb_bytes, &true_extent_bytes);
    PMPI_Type_get_extent(datatype, &lb_bytes, &extent_bytes);
    const size_t span_bytes = (size_t)((count - 1) * extent_bytes + true_extent_bytes);
    unsigned char *copy = malloc(span_bytes);
    if (copy == NULL)
        model_abort("out of memory for a damaged copy");
    memcpy(copy, (const unsigned char *)origin + true_lb_bytes, span_bytes);
    copy[0] ^= 0xff;
    window_remember_damage(window, target, NULL, copy);
    return copy - true_lb_bytes;
}

/* Of what is received. With a request, its completion does the damage, else the synchronisation. */
static void damage_result(unsigned char *byte, struct window *window, int target, struct data *data)
{
    if (data != NULL)
        data_plan_local_damage(data, byte);
    else
        window_remember_damage(window, target, byte, NULL);
}

/* Whether it is this operation's turn; those of no bytes have none. */
static bool is_to_be_damaged(int count, MPI_Datatype datatype)
{
    return bytes_of(count, datatype) > 0 && data_damage_is_due();
}

static bool is_modelled(int target) { return model.rma != 0 && target != MPI_PROC_NULL; }

#define UNWRAP(...) __VA_ARGS__

/* Statements in the function of an operation: before the real one. Its data is only planned to go
 * wrong. */
#define DAMAGE_ORIGIN(count, datatype)                                                             \
    if (is_to_be_damaged(count, datatype))                                                         \
        origin = damaged_origin(origin, count, datatype, window, target);
#define DAMAGE_RESULT(address, count, datatype)                                                    \
    if (is_to_be_damaged(count, datatype))                                                         \
        damage_result(byte_in(address, count, datatype), window, target, data);

#define ONE_SIDED(Name, name, parameters, arguments, bytes, damage)                                \
    INTERPOSED int MPI_##Name(UNWRAP parameters, MPI_Win win)                                      \
    {                                                                                              \
        if (!is_modelled(target))                                                                  \
            return next.Name(UNWRAP arguments, win);                                               \
        const int64_t post_ns = clock_now_ns();                                                    \
        struct window *window = window_of(win);                                                    \
        struct timing timing;                                                                      \
        if (model.data != 0) {                                                                     \
            struct data *const data = NULL;                                                        \
            (void)data;                                                                            \
            if (model.corrupt != 0) {                                                              \
                damage                                                                             \
            }                                                                                      \
            window_do_atomics(window, target);                                                     \
            const int error = next.Name(UNWRAP arguments, win);                                    \
            if (error != MPI_SUCCESS)                                                              \
                return error;                                                                      \
        }                                                                                          \
        timing_plan(&timing, OPERATION_##Name, bytes, post_ns);                                    \
        window_add(window, target, timing_earliest_end_ns(&timing), timing.host_ns);               \
        timing_spend(&timing, post_ns);                                                            \
        return MPI_SUCCESS;                                                                        \
    }

#define ATOMIC(Name, name, parameters, arguments, ...)                                             \
    INTERPOSED int MPI_##Name(UNWRAP parameters, MPI_Win win)                                      \
    {                                                                                              \
        if (!is_modelled(target))                                                                  \
            return next.Name(UNWRAP arguments, win);                                               \
        const int64_t post_ns = clock_now_ns();                                                    \
        struct window *window = window_of(win);                                                    \
        struct timing timing;                                                                      \
        if (model.data != 0) {                                                                     \
            const struct atomic atomic = {.origin = origin,                                        \
                                          .result = result,                                        \
                                          .datatype = datatype,                                    \
                                          .target = target,                                        \
                                          .displacement = displacement,                            \
                                          __VA_ARGS__};                                            \
            window_remember_atomic(window, &atomic);                                               \
            if (model.corrupt != 0 && is_to_be_damaged(1, datatype))                               \
                window_remember_damage(window, target, byte_in(result, 1, datatype), NULL);        \
        }                                                                                          \
        timing_plan(&timing, OPERATION_##Name, bytes_of(1, datatype), post_ns);                    \
        window_add(window, target, timing_earliest_end_ns(&timing), timing.host_ns);               \
        timing_spend(&timing, post_ns);                                                            \
        return MPI_SUCCESS;                                                                        \
    }

/* A synchronisation has no host part of an operation with a request to spin: that is for the
 * request's wait. */
#define ONE_SIDED_REQUEST(Name, name, parameters, arguments, bytes, damage)                        \
    INTERPOSED int MPI_##Name(UNWRAP parameters, MPI_Win win, MPI_Request *request)                \
    {                                                                                              \
        if (!is_modelled(target))                                                                  \
            return next.Name(UNWRAP arguments, win, request);                                      \
        const int64_t post_ns = clock_now_ns();                                                    \
        struct window *window = window_of(win);                                                    \
        struct operation *operation = operation_take(request);                                     \
        if (model.data != 0) {                                                                     \
            struct data *const data = &operation->data;                                            \
            if (model.corrupt != 0) {                                                              \
                damage                                                                             \
            }                                                                                      \
            window_do_atomics(window, target);                                                     \
            const int error = next.Name(UNWRAP arguments, win, &data->operation);                  \
            if (error != MPI_SUCCESS)                                                              \
                return operation_cancel(operation, request, error);                                \
        }                                                                                          \
        timing_plan(&operation->timing, OPERATION_##Name, bytes, post_ns);                         \
        window_add(window, target, timing_earliest_end_ns(&operation->timing), 0);                 \
        timing_spend(&operation->timing, post_ns);                                                 \
        return MPI_SUCCESS;                                                                        \
    }

/* A synchronisation: begun when what it completes is complete, then the real one, then spun to its
 * end. */
struct synchronisation {
    struct series *series;
    struct window *window;
    int64_t begin_ns; /* what it completes is complete, and its own duration begins */
    int64_t duration_ns;
    int64_t wait_ns; /* w */
    bool calls_real;
    int64_t real_ns; /* when the real one was called */
};

static void synchronisation_begin(struct synchronisation *synchronisation, enum operation_kind kind,
                                  MPI_Win win, int target, bool calls_real)
{
    const int64_t call_ns = clock_now_ns();
    synchronisation->series = series_find(kind, 0);
    synchronisation->window = window_of(win);
    const double slowness = timing_slowness(call_ns);
    synchronisation->duration_ns =
        timing_slowed_ns((double)synchronisation->series->duration_ns, slowness);
    synchronisation->wait_ns = timing_slowed_ns(model.wait_ns, slowness);
    synchronisation->begin_ns = window_completion_ns(synchronisation->window, target, call_ns);
    synchronisation->calls_real = calls_real;
    /* What others wait for mustn't come before what it announces. */
    if (calls_real)
        synchronisation->real_ns = timing_spin_until(synchronisation->begin_ns);
    if (model.data != 0 && target != NO_TARGET)
        window_do_atomics(synchronisation->window, target);
}

static int64_t completion_ns(const struct synchronisation *synchronisation)
{
    return synchronisation->begin_ns + synchronisation->duration_ns;
}

static void synchronisation_end(const struct synchronisation *synchronisation, int target)
{
    if (synchronisation->calls_real)
        series_add_real(synchronisation->series, clock_now_ns() - synchronisation->real_ns);
    if (model.corrupt != 0 && target != NO_TARGET)
        window_do_damage(synchronisation->window, target);
    int64_t *sample = series_next_extra(synchronisation->series);
    const int64_t end_ns = completion_ns(synchronisation) + synchronisation->wait_ns;
    const int64_t unslowed_from_ns = end_ns - timing_slowed_ns(model.wait_ns, 1);
    *sample = timing_spin_until(end_ns) - unslowed_from_ns;
}

#define SYNCHRONISATION(Name, name, parameters, arguments, completed_target, always_real)          \
    INTERPOSED int MPI_##Name(UNWRAP parameters)                                                   \
    {                                                                                              \
        if (model.rma == 0)                                                                        \
            return next.Name(UNWRAP arguments);                                                    \
        const bool calls_real = (always_real) || model.data != 0;                                  \
        struct synchronisation synchronisation;                                                    \
        synchronisation_begin(&synchronisation, OPERATION_##Name, win, completed_target,           \
                              calls_real);                                                         \
        const int error = calls_real ? next.Name(UNWRAP arguments) : MPI_SUCCESS;                  \
        synchronisation_end(&synchronisation, completed_target);                                   \
        return error;                                                                              \
    }
#define LOCK(Name, name)

#include "rma.def"

/*
 * The modelled time of a lock begins when the one before it is given up in modelled time, which its
 * holder has said before it really gave it up. So the real lock may change hands meanwhile, and
 * what that takes doesn't show.
 */
INTERPOSED int MPI_Win_lock(int type, int target, int assertions, MPI_Win win)
{
    if (!is_modelled(target))
        return next.Win_lock(type, target, assertions, win);
    struct synchronisation synchronisation;
    synchronisation_begin(&synchronisation, OPERATION_Win_lock, win, NO_TARGET, true);
    const int error = next.Win_lock(type, target, assertions, win);
    synchronisation.begin_ns = window_lock(synchronisation.window, target,
                                           type == MPI_LOCK_EXCLUSIVE, synchronisation.begin_ns);
    synchronisation_end(&synchronisation, NO_TARGET);
    return error;
}

INTERPOSED int MPI_Win_unlock(int target, MPI_Win win)
{
    if (!is_modelled(target))
        return next.Win_unlock(target, win);
    struct synchronisation synchronisation;
    synchronisation_begin(&synchronisation, OPERATION_Win_unlock, win, target, true);
    const int64_t end_ns = completion_ns(&synchronisation) + synchronisation.wait_ns;
    if (!window_unlock(synchronisation.window, target, end_ns))
        synchronisation.real_ns = timing_spin_until(end_ns);
    const int error = next.Win_unlock(target, win);
    synchronisation_end(&synchronisation, target);
    return error;
}

/*
 * Takes nothing where no data moves, and where it does in shared memory no more than a barrier of
 * the processor, which is all that it has to be there: a real one takes some 50 ns in some
 * libraries, which would be missing in the truth.
 */
INTERPOSED int MPI_Win_sync(MPI_Win win)
{
    if (model.rma == 0 || (model.data != 0 && !window_is_shared(window_of(win))))
        return next.Win_sync(win);
    if (model.data != 0)
        atomic_thread_fence(memory_order_seq_cst);
    return MPI_SUCCESS;
}

/* Memory in which atomic operations can be made without the library. */
INTERPOSED int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base,
                                MPI_Win *win)
{
    return model.rma != 0 && model.data != 0 && lock_held_until(0) != NULL
               ? next.Win_allocate_shared(bytes, unit, info, comm, base, win)
               : next.Win_allocate(bytes, unit, info, comm, base, win);
}

INTERPOSED int MPI_Win_free(MPI_Win *win)
{
    if (model.rma != 0)
        window_forget(*win);
    return next.Win_free(win);
}
