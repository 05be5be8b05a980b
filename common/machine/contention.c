#include "common/machine/contention.h"

#include "common/clock/clock.h"
#include "common/machine/system_file.h"
#include "common/mpi/harness.h"

#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- the kernel's counters ------------------------------------------------------------------- */

/* How long the calling thread has waited for a processor since its start; -1 where the kernel
   doesn't say. */
static int64_t read_waited_ns(int schedstat)
{
    char text[128];
    int64_t numbers[2]; /* ns on a processor, ns waited */
    const ssize_t length = schedstat < 0 ? -1 : pread(schedstat, text, sizeof text - 1, 0);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    return bc_parse_integers(text, numbers, 2) ? numbers[1] : -1;
}

static int64_t read_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

bool bc_ticks_parse(struct bc_ticks *ticks, const char *line)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COUNT };
    int64_t of[COUNT];
    if (strncmp(line, "cpu ", 4) != 0 || !bc_parse_integers(line + 4, of, COUNT))
        return false;
    *ticks = (struct bc_ticks){of[STEAL], of[USER] + of[NICE] + of[SYSTEM] + of[IRQ] + of[SOFTIRQ] +
                                              of[STEAL]};
    return true;
}

static struct bc_ticks read_ticks(void)
{
    struct bc_ticks ticks = {0, 0};
    char line[256];
    FILE *const stat = fopen("/proc/stat", "r");
    if (stat == NULL)
        return ticks;
    if (fgets(line, sizeof line, stat) != NULL)
        (void)bc_ticks_parse(&ticks, line);
    fclose(stat);
    return ticks;
}

/* ---- a rank ---------------------------------------------------------------------------------- */

void bc_contention_begin(struct bc_contention *contention, const char *schedstat)
{
    *contention = (struct bc_contention){
        .schedstat = open(schedstat != NULL ? schedstat : "/proc/thread-self/schedstat",
                          O_RDONLY | O_CLOEXEC),
        .ticks = read_ticks(),
    };
    (void)bc_contention_look(contention);
}

struct bc_loss bc_loss_of(double seconds, double waited_s, int64_t switches)
{
    struct bc_loss loss = {0.0, 0.0};
    if (seconds <= 0.0)
        return loss;
    const double share = waited_s / seconds;
    const double rate = (double)switches / seconds;
    if (share > BC_WAITED_SHARE_MUCH ||
        (share > BC_WAITED_SHARE_MAX && waited_s >= BC_WAITED_S_MIN))
        loss.waited_share = share < 1.0 ? share : 1.0;
    if (waited_s < 0.0 && switches >= BC_SWITCHES_MIN && rate > BC_SWITCHES_PER_S_MAX)
        loss.switches_per_s = rate;
    return loss;
}

struct bc_loss bc_contention_look(struct bc_contention *contention)
{
    const struct bc_contention before = *contention;
    contention->waited_ns = read_waited_ns(contention->schedstat);
    contention->switches = read_switches();
    contention->looked_s = bc_elapsed_s();
    const bool known = contention->waited_ns >= 0 && before.waited_ns >= 0;
    return bc_loss_of(contention->looked_s - before.looked_s,
                      known ? (double)(contention->waited_ns - before.waited_ns) * 1e-9 : -1.0,
                      contention->switches - before.switches);
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* On rank 0 replaces each value by its maximum over ranks, with the rank of that. Collective. */
static void find_max(struct bc_located *places, int count, const struct bc_job *job)
{
    struct bc_located mine[2];
    for (int i = 0; i < count; i++) {
        places[i].rank = job->rank;
        mine[i] = places[i];
    }
    bc_harness_reduce(mine, places, count, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
}

void bc_contention_row(struct bc_contention *contention, const struct bc_job *job,
                       struct bc_output *output, int64_t row)
{
    if (job->shares_processors)
        return;
    const struct bc_loss loss = bc_contention_look(contention);
    struct bc_located max[] = {
        {.value = loss.waited_share},
        {.value = loss.switches_per_s},
    };
    find_max(max, 2, job);
    if (max[0].value > 0.0)
        bc_output_remark(output, "warning",
                         "row %" PRId64 ": rank %d waited for a processor during "
                         "%.0f %% of the row's time: something else runs there, "
                         "and it is in the row's times",
                         row, max[0].rank, 100.0 * max[0].value);
    else if (max[1].value > 0.0)
        bc_output_remark(output, "warning",
                         "row %" PRId64 ": rank %d was made to leave its "
                         "processor %.0f times a second: something else runs "
                         "there, and it is in the row's times",
                         row, max[1].rank, max[1].value);
}

void bc_contention_end(struct bc_contention *contention, const struct bc_job *job,
                       struct bc_output *output)
{
    if (contention->schedstat >= 0)
        close(contention->schedstat);
    contention->schedstat = -1;
    const struct bc_ticks now = read_ticks();
    const double stolen = (double)(now.stolen - contention->ticks.stolen);
    const double busy = (double)(now.busy - contention->ticks.busy);
    struct bc_located max = {
        .value = stolen >= BC_STOLEN_TICKS_MIN ? stolen / busy : 0.0,
    };
    find_max(&max, 1, job);
    if (max.value > BC_STOLEN_SHARE_MAX)
        bc_output_remark(output, "warning",
                         "this is a virtual machine whose host took %.0f %% of "
                         "the processors' time during the run (steal, on rank "
                         "%d's node): times are longer for it",
                         100.0 * max.value, max.rank);
}
