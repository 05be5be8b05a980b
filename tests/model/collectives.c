/* The post of every collective in collectives.def. */
#include "buffers.h"
#include "next.h"
#include "requests.h"

/* The macro's text is the same for all: the time of the post, a slot, the real operation if data is to
   move, the modelled post. Only what depends on the signature is in it. */
#define UNWRAP(...) __VA_ARGS__
#define COLLECTIVE(Name, name, parameters, arguments, bytes, received_byte)                                     \
    INTERPOSED int MPI_##Name(UNWRAP parameters, MPI_Request *request)                                          \
    {                                                                                                           \
        if (model.coll == 0)                                                                                    \
            return next.Name(UNWRAP arguments, request);                                                        \
        const int64_t post_ns = clock_now_ns();                                                                 \
        struct operation *operation = operation_take(request);                                                  \
        if (model.data != 0) {                                                                                  \
            const int error = next.Name(UNWRAP arguments, &operation->data.operation);                           \
            if (error != MPI_SUCCESS)                                                                           \
                return operation_cancel(operation, request, error);                                             \
            if (model.corrupt != 0)                                                                             \
                data_plan_damage(&operation->data, OPERATION_##Name, comm, received_byte);                      \
        }                                                                                                       \
        timing_post(&operation->timing, OPERATION_##Name, bytes, post_ns);                                      \
        return MPI_SUCCESS;                                                                                     \
    }

#include "collectives.def"
