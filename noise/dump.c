/* SPDX-License-Identifier: BSD-3-Clause */
/* --dump-samples: times at which each rank was watched and interrupted. */
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "noise/noise.h"

#include <stdio.h>
#include <stdlib.h>

enum { TAG_STOPS = 2 };

/* Writes the begin and end of a rank's visits, and the begin and length of its stops. Rank 0. */
static void dump_rank(const struct bc_run *run, int rank, const struct noise_watch *visits,
                      int count, const struct noise_stop *stop)
{
    static const char *const names[] = {"watch_begin_ns", "watch_end_ns", "stop_begin_ns",
                                        "stop_ns"};
    struct bc_samples watched = {0}, stopped = {0};
    char name[64];
    for (const struct noise_watch *watch = visits; watch < visits + count; watch++) {
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
        bc_samples_dump(run, name, i < 2 ? &watched : &stopped, i % 2);
    }
    bc_samples_free(&watched);
    bc_samples_free(&stopped);
}

void noise_dump_stops(const struct noise *noise, const struct noise_stops *stops,
                      const struct noise_watch *visits)
{
    const struct bc_run *const run = noise->run;
    const int count = stops->visit_count;
    if (run->settings.dump_samples == NULL)
        return;
    if (run->job.rank != 0) {
        BC_MPI(MPI_Send(stops->stop, (int)(stops->count * sizeof *stops->stop), MPI_BYTE, 0,
                        TAG_STOPS, MPI_COMM_WORLD));
        return;
    }
    dump_rank(run, 0, visits, count, stops->stop);
    for (int rank = 1; rank < run->job.ranks; rank++) {
        int64_t others_count = 0;
        visits += count;
        for (int i = 0; i < count; i++)
            others_count += visits[i].stops;
        const size_t bytes = (size_t)others_count * sizeof(struct noise_stop);
        struct noise_stop *const others = bc_allocate(bytes, 1, "no memory for stops");
        BC_MPI(MPI_Recv(others, (int)bytes, MPI_BYTE, rank, TAG_STOPS, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        dump_rank(run, rank, visits, count, others);
        free(others);
    }
}
