/* Start and end of the job. */
#include "data.h"
#include "locks.h"
#include "model.h"
#include "next.h"
#include "requests.h"

static void start(void)
{
    config_load();
    data_start();
    requests_start();
    timing_start();
    if (model.rma != 0)
        locks_start();
}

INTERPOSED int MPI_Init(int *argc, char ***argv)
{
    const int error = next.Init(argc, argv);
    if (error == MPI_SUCCESS)
        start();
    return error;
}

INTERPOSED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int error = next.Init_thread(argc, argv, required, provided);
    if (error == MPI_SUCCESS)
        start();
    return error;
}

INTERPOSED int MPI_Finalize(void)
{
    data_finish();
    report_write();
    if (model.rma != 0)
        locks_finish();
    return next.Finalize();
}
