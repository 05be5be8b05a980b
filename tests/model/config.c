#include "model.h"

#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct model_parameters model = {
    .coll = 1,
    .blocking_ns = NAN,
    .slow_bytes = -1,
    .fraction = NAN,
    .progress_share = 1,
    .progress_ns = NAN,
    .early_partitions = 1,
    .corrupt_every = 1,
};

/* One row a variable: its value times scale is stored in *target. Meanings and units: model.h. */
struct variable {
    const char *name;
    double *target;
    double scale;
    double smallest;
    double largest;
    bool integer;
};

static const struct variable variables[] = {
    {"MODEL_COLL", &model.coll, 1, 0, 1, true},
    {"MODEL_SYNC_COLL", &model.sync_coll, 1, 0, 1, true},
    {"MODEL_P2P", &model.p2p, 1, 0, 1, true},
    {"MODEL_RMA", &model.rma, 1, 0, 1, true},
    {"MODEL_DURATION_US", &model.duration_ns, 1e3, 0, 1e9, false},
    {"MODEL_BARRIER_US", &model.barrier_ns, 1e3, 0, 1e9, false},
    {"MODEL_BLOCKING_US", &model.blocking_ns, 1e3, 0, 1e9, false},
    {"MODEL_LATENCY_US", &model.latency_ns, 1e3, 0, 1e9, false},
    {"MODEL_GAP_US", &model.gap_ns, 1e3, 0, 1e9, false},
    {"MODEL_PER_BYTE_NS", &model.per_byte_ns, 1, 0, 1e9, false},
    {"MODEL_SLOW_BYTES", &model.slow_bytes, 1, 0, 0x1p53, true},
    {"MODEL_SLOW_SHARE", &model.slow_share, 1, -1, 1000, false},
    {"MODEL_FRACTION", &model.fraction, 1, 0, 1, false},
    {"MODEL_POST_US", &model.post_ns, 1e3, 0, 1e9, false},
    {"MODEL_WAIT_US", &model.wait_ns, 1e3, 0, 1e9, false},
    {"MODEL_PROGRESS_SHARE", &model.progress_share, 1, 1e-6, 1, false},
    {"MODEL_PROGRESS_US", &model.progress_ns, 1e3, 1e-3, 1e9, false},
    {"MODEL_TEST_US", &model.test_ns, 1e3, 0, 1e9, false},
    {"MODEL_EARLY_PARTITIONS", &model.early_partitions, 1, 0, 1, true},
    {"MODEL_SYNC_US", &model.sync_ns, 1e3, 0, 1e9, false},
    {"MODEL_LATE_SHARE", &model.late_share, 1, 0, 1, false},
    {"MODEL_LATE_US", &model.late_ns, 1e3, 0, 1e9, false},
    {"MODEL_SEED", &model.seed, 1, 0, 0x1p53, true},
    {"MODEL_DATA", &model.data, 1, 0, 1, true},
    {"MODEL_CORRUPT", &model.corrupt, 1, 0, 1, true},
    {"MODEL_CORRUPT_EVERY", &model.corrupt_every, 1, 1, 1e9, true},
};

bool model_has_blocking(void) { return !isnan(model.blocking_ns); }

static const char *environment(const char *name)
{
    /* Read in MPI_Init and MPI_Finalize only, which one thread calls.
     * NOLINTNEXTLINE(concurrency-mt-unsafe) */
    return getenv(name);
}

_Noreturn void model_abort(const char *message)
{
    (void)fprintf(stderr, "model MPI: %s\n", message);
    /* MPICH's mpirun may end without having read what an aborting rank wrote just before. */
    (void)nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    (void)PMPI_Abort(MPI_COMM_WORLD, 2);
    abort(); /* PMPI_Abort isn't declared to be without return */
}

static void read_variable(const struct variable *variable)
{
    const char *text = environment(variable->name);
    if (text == NULL)
        return;

    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    const bool is_number = end != text && *end == '\0' && errno == 0 && isfinite(value);
    if (!is_number || value < variable->smallest || value > variable->largest ||
        (variable->integer && value != floor(value))) {
        char message[256];
        (void)snprintf(message, sizeof message, "%s=%s: must be %s from %g to %g", variable->name,
                       text, variable->integer ? "an integer" : "a number", variable->smallest,
                       variable->largest);
        model_abort(message);
    }
    *variable->target = value * variable->scale;
}

void config_load(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
            read_variable(&variables[i]);
        if (model.corrupt != 0)
            model.data = 1;
    }
    PMPI_Bcast(&model, sizeof model, MPI_BYTE, 0, MPI_COMM_WORLD);
}

const char *config_report_path(void) { return environment("MODEL_REPORT"); }
