#include "monitor/operations.h"

const struct operation_traits operation_traits[OPERATIONS] = {
#define LARGE_COUNTS 0
#define OPERATION(Name, Class) [OPERATION_##Name] = {"MPI_" #Name, Class},
#include "monitor/functions.def"
};
