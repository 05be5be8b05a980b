/* The post of every non-blocking collective in collectives.def, the making of every persistent one,
 * and the whole of every blocking one. */
#include "buffers.h"
#include "next.h"
#include "requests.h"
#include "statistics.h"

/* The macro's text is the same for all: the time of the post, a slot, the real operation if data is
   to move, the modelled post. Only what depends on the signature is in it. */
#define UNWRAP(...) __VA_ARGS__
#define COLLECTIVE(Name, name, parameters, arguments, bytes, received_byte)                        \
    INTERPOSED int MPI_##Name(UNWRAP parameters, MPI_Request *request)                             \
    {                                                                                              \
        if (model.coll == 0)                                                                       \
            return next.Name(UNWRAP arguments, request);                                           \
        const int64_t post_ns = clock_now_ns();                                                    \
        struct operation *operation = operation_take(request);                                     \
        if (model.data != 0) {                                                                     \
            const int error = next.Name(UNWRAP arguments, &operation->data.operation);             \
            if (error != MPI_SUCCESS)                                                              \
                return operation_cancel(operation, request, error);                                \
            if (model.corrupt != 0)                                                                \
                data_plan_damage(&operation->data, OPERATION_##Name, comm, received_byte);         \
        }                                                                                          \
        timing_post(&operation->timing, OPERATION_##Name, bytes, post_ns);                         \
        return MPI_SUCCESS;                                                                        \
    }

/* The rest of a blocking collective called at call_ns, when the real one, if it was called, is
 * over. */
static void complete(enum operation_kind kind, int64_t bytes, int64_t call_ns, bool was_real,
                     int64_t real_end_ns)
{
    struct timing timing;
    struct completion completion;
    timing_plan(&timing, kind, bytes, call_ns);
    if (was_real)
        series_add_real(timing.series, real_end_ns - call_ns);
    completion_begin(&completion, call_ns);
    completion_add(&completion, &timing);
    completion_end(&completion);
}

static bool is_modelled(enum operation_class class)
{
    const bool has_sisters = model.coll != 0 && model_has_blocking();
    switch (class) {
    case CLASS_BARRIER:
        return model.sync_coll != 0;
    case CLASS_ALLREDUCE:
        return model.sync_coll != 0 || has_sisters;
    case CLASS_SISTER:
        return has_sisters;
    default:
        return model.coll != 0;
    }
}

/* The real one comes first, so that ranks are synchronised and its time is inside the one modelled.
   Programs rely on what all but those on a topology do. */
#define BLOCKING_COLLECTIVE(Name, name, class, parameters, arguments, bytes, received_byte)        \
    INTERPOSED int MPI_##Name(UNWRAP parameters)                                                   \
    {                                                                                              \
        if (!is_modelled(CLASS_##class))                                                           \
            return next.Name(UNWRAP arguments);                                                    \
        const int64_t call_ns = clock_now_ns();                                                    \
        const bool is_relied_on = CLASS_##class != CLASS_BLOCKING;                                 \
        const bool is_real = is_relied_on || model.data != 0;                                      \
        int64_t real_end_ns = call_ns;                                                             \
        if (is_real) {                                                                             \
            const int error = next.Name(UNWRAP arguments);                                         \
            real_end_ns = clock_now_ns();                                                          \
            if (error != MPI_SUCCESS)                                                              \
                return error;                                                                      \
            if (model.corrupt != 0 && !is_relied_on)                                               \
                data_damage_now(OPERATION_##Name, comm, received_byte);                            \
        }                                                                                          \
        complete(OPERATION_##Name, bytes, call_ns, is_real, real_end_ns);                          \
        return MPI_SUCCESS;                                                                        \
    }

#if HAS_PERSISTENT
#define PERSISTENT_COLLECTIVE(Name, name, parameters, arguments, bytes, received_byte)             \
    INTERPOSED int PERSISTENT(Name)(UNWRAP parameters, MPI_Info info, MPI_Request * request)       \
    {                                                                                              \
        if (model.coll == 0)                                                                       \
            return next.Name(UNWRAP arguments, info, request);                                     \
        struct operation *operation = operation_take(request);                                     \
        if (model.data != 0) {                                                                     \
            const int error = next.Name(UNWRAP arguments, info, &operation->data.operation);       \
            if (error != MPI_SUCCESS)                                                              \
                return operation_cancel(operation, request, error);                                \
        }                                                                                          \
        operation_persist(operation, OPERATION_##Name, bytes, NULL);                               \
        if (model.corrupt != 0)                                                                    \
            operation_persist_damage(operation, comm, received_byte);                              \
        return MPI_SUCCESS;                                                                        \
    }
#else
#define PERSISTENT_COLLECTIVE(...)
#endif

#include "collectives.def"
