#include "model.h"

const struct operation_traits operation_traits[OPERATION_KINDS] = {
#define COLLECTIVE(Name, name, ...) [OPERATION_##Name] = {name, CLASS_COLLECTIVE},
#define BLOCKING_COLLECTIVE(Name, name, class, ...) [OPERATION_##Name] = {name, CLASS_##class},
#include "collectives.def"
#define MESSAGE_ROWS 1
#define MESSAGE(Name, name, direction) [OPERATION_##Name] = {name, CLASS_##direction},
#include "p2p.def"
#define ONE_SIDED(Name, name, ...) [OPERATION_##Name] = {name, CLASS_ONE_SIDED},
#define ONE_SIDED_REQUEST(Name, name, ...) [OPERATION_##Name] = {name, CLASS_ONE_SIDED},
#define ATOMIC(Name, name, ...) [OPERATION_##Name] = {name, CLASS_ONE_SIDED},
#define SYNCHRONISATION(Name, name, ...) [OPERATION_##Name] = {name, CLASS_SYNCHRONISATION},
#define LOCK(Name, name) [OPERATION_##Name] = {name, CLASS_SYNCHRONISATION},
#include "rma.def"
};
