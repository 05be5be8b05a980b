/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the library argv[1], which uses MPI from Fortran (exchange.f90). */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    void *const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*const exchange)(void) =
        library != NULL ? (void (*)(void))dlsym(library, "exchange") : NULL;
    if (exchange == NULL) {
        (void)printf("%s\n", dlerror());
        return 2;
    }
    exchange();
    MPI_Finalize();
    return 0;
}
