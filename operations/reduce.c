/* MPI_Reduce: the sum over all ranks, on the root. */
#include "operations/calls.h"
#include "operations/collectives.h"

OP_COLLECTIVE_C(reduce, MPI_Ireduce, MPI_Reduce,
                (operation->send, operation->receive, count, MPI_DOUBLE, MPI_SUM,
                 operation->shape.root, operation->comm),
                .layout = OP_REDUCED, .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
                .receive = {OP_BLOCK, OP_ON_ROOT, OP_SUM});
