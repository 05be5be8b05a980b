/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the function and the line of each of its MPI calls, except MPI_Comm_rank, for a comparison
 * with the monitor's call sites: a file for each process, $CALLS_FILE.PID. On two ranks.
 *
 * usage: call_sites [PLUG_IN]...   exchanges in these shared objects, one after the other; without
 *                                  any, in the program
 */
#include "call_sites.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* Exchanges in a shared object, which is unloaded afterwards. */
static void exchange_in(const char *file, int rank)
{
    void *const object = dlopen(file, RTLD_NOW);
    void (*const plugged_in)(int) =
        object != NULL ? (void (*)(int))dlsym(object, "exchange") : NULL;
    if (plugged_in == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    plugged_in(rank);
    dlclose(object);
}

int main(int argc, char **argv)
{
    int rank;
    /* Launchers may mix the lines of ranks. */
    char file[4096];
    (void)snprintf(file, sizeof file, "%s.%ld", getenv("CALLS_FILE"), (long)getpid());
    if (freopen(file, "w", stdout) == NULL)
        return 1;
    AT(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef LINKED
    exchange(rank);
#endif
    for (int i = 1; i < argc; i++)
        exchange_in(argv[i], rank);
    AT(MPI_Finalize());
    return 0;
}
