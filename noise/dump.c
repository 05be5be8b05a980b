#include "noise/dump.h"

#include "common/mpi/mpi_check.h"

#include <stdio.h>

enum { TAG_STOPS = 1 };

/* Sends this rank's stops to rank 0. */
static void send_stops(const struct noise_stops *stops)
{
    BC_MPI(MPI_Send(stops->visits, stops->visit_count * (int)sizeof *stops->visits, MPI_BYTE, 0,
                    TAG_STOPS, MPI_COMM_WORLD));
    BC_MPI(MPI_Send(stops->stop, (int)(stops->count * sizeof *stops->stop), MPI_BYTE, 0, TAG_STOPS,
                    MPI_COMM_WORLD));
}

/* Receives the stops of a rank in all visits. Free with noise_stops_free. */
static struct noise_stops receive_stops(int rank, int visits)
{
    struct noise_stops stops = {.visit_count = visits};
    stops.visits = bc_allocate((size_t)visits, sizeof *stops.visits, "no memory for visits");
    BC_MPI(MPI_Recv(stops.visits, visits * (int)sizeof *stops.visits, MPI_BYTE, rank, TAG_STOPS,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < visits; i++)
        stops.count += (size_t)stops.visits[i].stops;
    stops.stop = bc_allocate(stops.count, sizeof *stops.stop, "no memory for stops");
    BC_MPI(MPI_Recv(stops.stop, (int)(stops.count * sizeof *stops.stop), MPI_BYTE, rank, TAG_STOPS,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return stops;
}

/* Writes when a rank was watched, when its stops began and how long they took; rank 0. */
static void dump_rank(const struct bc_run *run, const struct noise_stops *stops, int rank)
{
    static const char *const names[] = {"watch_begin_ns", "watch_end_ns", "stop_begin_ns",
                                        "stop_ns"};
    struct bc_samples watched = {0}, stopped = {0};
    char name[64];
    const struct noise_stop *stop = stops->stop;
    for (int visit = 0; visit < stops->visit_count; visit++) {
        const struct noise_watch *const watch = &stops->visits[visit];
        bc_samples_begin_visit(&watched);
        bc_samples_begin_visit(&stopped);
        bc_samples_append(&watched, (double[]){(double)watch->begin_ns, (double)watch->end_ns}, 2,
                          rank);
        for (int64_t i = 0; i < watch->stops; i++, stop++)
            bc_samples_append(&stopped, (double[]){(double)stop->begin_ns, (double)stop->length_ns},
                              2, rank);
    }
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "rank%d_%s", rank, names[i]);
        bc_run_dump(run, name, i < 2 ? &watched : &stopped, i % 2);
    }
    bc_samples_free(&watched);
    bc_samples_free(&stopped);
}

void noise_dump(const struct noise *noise, const struct noise_row *row)
{
    const struct bc_run *const run = noise->run;
    if (run->settings.dump_samples == NULL)
        return;
    if (run->job.rank != 0) {
        send_stops(&row->stops);
        return;
    }
    dump_rank(run, &row->stops, 0);
    for (int rank = 1; rank < run->job.ranks; rank++) {
        struct noise_stops stops = receive_stops(rank, row->stops.visit_count);
        dump_rank(run, &stops, rank);
        noise_stops_free(&stops);
    }
}
