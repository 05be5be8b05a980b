/* What the library calls its persistent collectives: MPI_Allreduce_init and so on since MPI 4,
 * MPIX_Allreduce_init as an extension of Open MPI 4. */
#ifndef MODEL_PERSISTENT_H
#define MODEL_PERSISTENT_H

#include <mpi.h>

#if defined(OPEN_MPI) && MPI_VERSION < 4
#include <mpi-ext.h>
#endif

/* PERSISTENT(Allreduce_init) is the function. PERSISTENT_PMPI is the name that profilers call. */
#if MPI_VERSION >= 4
#define HAS_PERSISTENT 1
#define PERSISTENT(Name) MPI_##Name
#define PERSISTENT_PMPI(Name) "PMPI_" #Name
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define HAS_PERSISTENT 1
#define PERSISTENT(Name) MPIX_##Name
#define PERSISTENT_PMPI(Name) "PMPIX_" #Name
#else
#define HAS_PERSISTENT 0
#endif

#endif
