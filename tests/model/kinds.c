#include "model.h"

const struct operation_traits operation_traits[OPERATION_KINDS] = {
#define COLLECTIVE(Name, name, ...) [OPERATION_##Name] = {name, CLASS_COLLECTIVE, false},
#define BLOCKING_COLLECTIVE(Name, name, class, ...)                                                \
    [OPERATION_##Name] = {name, CLASS_##class, false},
#define PERSISTENT_COLLECTIVE(Name, name, ...) [OPERATION_##Name] = {name, CLASS_COLLECTIVE, false},
#include "collectives.def"
    [OPERATION_Psend_init] = {"psend_init", CLASS_SEND, false},
    [OPERATION_Pready] = {"pready", CLASS_SEND, false},
    [OPERATION_Precv_init] = {"precv_init", CLASS_RECEIVE, false},
#define MESSAGE_ROWS 1
#define MESSAGE(Name, name, direction, blocking)                                                   \
    [OPERATION_##Name] = {name, CLASS_##direction, blocking},
#include "p2p.def"
#define ONE_SIDED(Name, name, ...) [OPERATION_##Name] = {name, CLASS_ONE_SIDED, false},
#define ONE_SIDED_REQUEST(Name, name, ...) [OPERATION_##Name] = {name, CLASS_ONE_SIDED, false},
#define ATOMIC(Name, name, ...) [OPERATION_##Name] = {name, CLASS_ONE_SIDED, false},
#define SYNCHRONISATION(Name, name, ...) [OPERATION_##Name] = {name, CLASS_SYNCHRONISATION, false},
#define LOCK(Name, name) [OPERATION_##Name] = {name, CLASS_SYNCHRONISATION, false},
#include "rma.def"
};
