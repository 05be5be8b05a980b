#include "monitor/common_clock.h"

#include "common/mpi/mpi_check.h"

#include <math.h>

/* The time of a pair. */
#define PAIR_S 0.004

/* Ranks may share processors: they yield theirs after few looks for a message. */
enum { LOOKS_FEW = 50 };

/* By how much the rates of two clocks may differ, where only one comparison can't tell. */
#define RATE_DIFFERENCE 1e-4

/* The clock of this rank, and what it was compared with. */
static struct {
    int comparisons;
    uint64_t base_ticks;       /* when the time is 0: the same on all ranks of a node ... */
    double tick_ns;            /* ... as is this */
    int64_t first_ns, last_ns; /* when the first comparison began, and the last one */
    struct bc_pair_clock pairs;
} own;

/* The time on this rank's clock. */
static int64_t time_of(uint64_t ticks)
{
    return llround((double)(int64_t)(ticks - own.base_ticks) * own.tick_ns);
}

static int64_t now_ns(void) { return time_of(ticks_now()); }

/* The ranks of a node count from the same tick with the same length, if their ticks are of the same
   clock. */
static void begin_to_count(MPI_Comm node)
{
    struct {
        uint64_t base_ticks;
        double tick_ns;
        bool are_tsc;
    } of_own = {ticks_now(), ticks_ns(), ticks_are_tsc}, counted = of_own;
    BC_MPI(PMPI_Bcast(&counted, sizeof counted, MPI_BYTE, 0, node));
    if (counted.are_tsc != of_own.are_tsc)
        counted = of_own;
    own.base_ticks = counted.base_ticks;
    own.tick_ns = counted.tick_ns;
    own.pairs = (struct bc_pair_clock){
        .now_ns = now_ns,
        .reading_ns = (double)ticks_cost() * own.tick_ns,
        .looks = LOOKS_FEW,
        .naps = true,
        .bounds_one_clock = true,
        .growth_max = RATE_DIFFERENCE,
    };
}

void common_clock_compare(MPI_Comm comm)
{
    int rank;
    MPI_Comm node;
    MPI_Request request;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    BC_MPI(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    if (own.comparisons == 0)
        begin_to_count(node);
    bc_pair_clock_make(&own.pairs, comm, node);
    own.last_ns = now_ns();
    bc_pair_clock_measure(&own.pairs, PAIR_S);
    if (own.comparisons++ == 0)
        own.first_ns = own.last_ns;
    bc_pair_clock_learn(&own.pairs);
    /* Ranks with few peers don't go ahead, nor take processors from those that still compare. */
    BC_MPI(PMPI_Ibarrier(comm, &request));
    bc_pair_wait(&own.pairs, &request);
    bc_pair_clock_free(&own.pairs);
}

int common_clock_find(MPI_Comm comm, struct common_clock *clock)
{
    common_clock_compare(comm);
    *clock = (struct common_clock){.tick_ns = own.tick_ns,
                                   .first_ns = own.first_ns,
                                   .last_ns = own.last_ns,
                                   .known = own.pairs.known};
    return own.comparisons < 2 ? 1 : 2;
}

double common_clock_ns(const struct common_clock *clock, uint64_t ticks)
{
    return (double)bc_clock_model_reference(&clock->known.model, time_of(ticks));
}

double common_clock_error_ns(const struct common_clock *clock, uint64_t ticks)
{
    const int64_t at_ns = time_of(ticks);
    const double from_first_ns = fabs((double)(at_ns - clock->first_ns));
    const double from_last_ns = fabs((double)(at_ns - clock->last_ns));
    return clock->known.bound_ns + clock->known.growth * from_last_ns +
           BC_RATE_CHANGE * fmin(from_first_ns, from_last_ns);
}
