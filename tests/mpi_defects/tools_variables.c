/*
 * A tool that reads every performance variable that belongs to no object and counts something (MPI
 * 3.1, section 14.3.7).
 *
 *   mpirun -np 1 tools_variables
 *
 * Exit status 0: all could be read.
 *
 * MPICH 4.0.2: right. Open MPI 4.1.4: MPI_T_init_thread shows the variables of parts that MPI_Init
 * had unloaded; those of mtl_psm2 are a segmentation fault where there is no Omni-Path.
 */
#include <mpi.h>
#include <stdio.h>

static void read_variable(MPI_T_pvar_session session, int index)
{
    char name[256];
    long long room[64] = {0};
    int length = sizeof name, verbosity, class, binding, readonly, continuous, atomic, none = 0,
        count;
    MPI_Datatype type;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_get_info(index, name, &length, &verbosity, &class, &type, NULL, NULL, &none,
                            &binding, &readonly, &continuous, &atomic) != MPI_SUCCESS ||
        binding != MPI_T_BIND_NO_OBJECT || class != MPI_T_PVAR_CLASS_COUNTER)
        return;
    printf("%s\n", name);
    fflush(stdout);
    if (MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) != MPI_SUCCESS)
        return;
    if (count == 1 && (continuous || MPI_T_pvar_start(session, handle) == MPI_SUCCESS))
        MPI_T_pvar_read(session, handle, room);
    MPI_T_pvar_handle_free(session, &handle);
}

int main(int argc, char **argv)
{
    int level, variables = 0;
    MPI_T_pvar_session session;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    MPI_T_pvar_get_num(&variables);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < variables; i++)
        read_variable(session, i);
    MPI_Finalize();
    return 0;
}
