/*
 * Linked into the programs of the simulated build, whose calls of MPI_Send the linker sends here
 * (--wrap): with SIMULATION_NOISE=SEED,MEAN_US,STOPS,STOP_US each message is sent later by a time
 * that is drawn from an exponential distribution of this mean, and one in STOPS by STOP_US besides.
 * smpirun loads the program once for each rank, with variables of its own.
 */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    bool is_known;
    double mean_s, stop_s;
    double stop_share;
    uint64_t state;
} noise;

/* Knuth's MMIX generator; its upper bits. */
static double draw(void)
{
    noise.state = noise.state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(noise.state >> 11) + 0.5) / 9007199254740992.0;
}

static void read_settings(void)
{
    const char *const text = getenv("SIMULATION_NOISE");
    double seed, mean_us, stops, stop_us;
    int rank;
    noise.is_known = true;
    if (text == NULL || sscanf(text, "%lf,%lf,%lf,%lf", &seed, &mean_us, &stops, &stop_us) != 4)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    noise.mean_s = mean_us * 1e-6;
    noise.stop_s = stop_us * 1e-6;
    noise.stop_share = stops > 0.0 ? 1.0 / stops : 0.0;
    noise.state = (uint64_t)seed * 1000003u + (uint64_t)rank;
    for (int i = 0; i < 8; i++)
        (void)draw();
}

int __real_MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                    MPI_Comm comm);
int __wrap_MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                    MPI_Comm comm);
int __wrap_MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    if (!noise.is_known)
        read_settings();
    if (noise.mean_s > 0.0) {
        const bool stops = draw() < noise.stop_share;
        smpi_execute_benched(-noise.mean_s * log(draw()) + (stops ? noise.stop_s : 0.0));
    }
    return __real_MPI_Send(buf, count, type, dest, tag, comm);
}
