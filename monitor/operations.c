#include "operations.h"

const struct operation_traits operation_traits[OPERATIONS] = {
#define TRAITS(Name, Class) [OPERATION_##Name] = {"MPI_" #Name, Class},
#define SEND(Name, ...) TRAITS(Name, CLASS_POINT_TO_POINT)
#define RECEIVE(Name, ...) TRAITS(Name, CLASS_POINT_TO_POINT)
#define MESSAGE(Name, ...) TRAITS(Name, CLASS_POINT_TO_POINT)
#define PERSISTENT(Name, ...) TRAITS(Name, CLASS_POINT_TO_POINT)
#define COLLECTIVE(Name, Nonblocking, ...)                                                         \
    TRAITS(Name, CLASS_COLLECTIVE)                                                                 \
    TRAITS(Nonblocking, CLASS_COLLECTIVE)                                                          \
    TRAITS(Name##_init, CLASS_COLLECTIVE)
#define ONE_SIDED(Name, ...) TRAITS(Name, CLASS_POINT_TO_POINT)
#define ONE_SIDED_REQUEST(Name, ...) TRAITS(Name, CLASS_POINT_TO_POINT)
#define CREATION(Name, ...) TRAITS(Name, CLASS_COLLECTIVE)
#define WINDOW_CREATION(Name, ...) TRAITS(Name, CLASS_COLLECTIVE)
#include "functions.def"
    TRAITS(Mrecv, CLASS_POINT_TO_POINT) TRAITS(Imrecv, CLASS_POINT_TO_POINT)
        TRAITS(Comm_idup, CLASS_COLLECTIVE) TRAITS(Comm_idup_with_info, CLASS_COLLECTIVE)
            TRAITS(Comm_free, CLASS_COLLECTIVE) TRAITS(Comm_disconnect, CLASS_COLLECTIVE)
                TRAITS(Win_fence, CLASS_COLLECTIVE) TRAITS(Win_free, CLASS_COLLECTIVE)};
