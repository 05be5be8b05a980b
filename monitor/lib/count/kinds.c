/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/kinds.h"

unsigned monitored_classes;

const struct operation_traits operation_traits[OPERATIONS] = {
#define LARGE_COUNTS 0
#define ROW NAMES
#define UNCOUNTED(Name)
#define OPERATION(Name, Class) [OPERATION_##Name] = {"MPI_" #Name, Class},
#include "monitor/lib/count/functions.def"
    [OPERATION_OTHER_MPI] = {"other MPI", CLASS_CALLS},
    [OPERATION_MONITOR] = {"libmpirtmon", CLASS_CALLS},
};
