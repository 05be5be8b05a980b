/*
 * Modelled requests in the ABI of the MPI standard, whatever the library: are they told from real
 * ones, and from the values that the standard gives to requests? Takes from mpi.h what the model's
 * headers need, but the requests and the version from here. Calls no MPI function.
 */
#include <string.h>
#include <mpi.h>

#undef OPEN_MPI
#undef MPICH_VERSION
#undef MPI_ABI_VERSION
#define MPI_ABI_VERSION 1
typedef struct abi_request *abi_request;
#define MPI_Request abi_request

#include "check.h"
#include "requests.h"

struct operation operations[OPERATIONS_MAX];

/* As MPICH's and Open MPI's: a small number, a number of 32 bits, an address. */
static bool is_taken_for_ours(uintptr_t value)
{
    const union {
        uintptr_t value;
        MPI_Request request;
    } handle = {value};
    return operation_of(handle.request) != NULL;
}

int main(void)
{
    static int elsewhere;
    check_begin(true);
    for (int i = 0; i < OPERATIONS_MAX; i += OPERATIONS_MAX - 1)
        check_equal("an operation's request leads to it",
                    operation_of(request_of(&operations[i])) - operations, i);
    check_equal("MPI_REQUEST_NULL is ours", is_taken_for_ours(0x180), false);
    check_equal("MPICH's numbers are ours", is_taken_for_ours(0x98000000), false);
    check_equal("other addresses are ours", is_taken_for_ours((uintptr_t)&elsewhere), false);
    return check_end();
}
