#include "halo/measure.h"

#include "common/mpi/harness.h"

#include <stdlib.h>

struct round {
    const struct halo_method *method;
    const struct halo_exchange *exchange;
    struct bc_start_window *window; /* or NULL */
    int64_t swaps;                  /* that were checked so far */
    int64_t wrong;                  /* of these, on this rank */
};

/* ---- data ------------------------------------------------------------------------------------ */

#define UNTOUCHED (-1.0)

/* Swaps until values come again. */
#define SWAPS_TOLD_APART 64

/* The values of the whole grid in this direction. */
static int64_t global_extent(const struct halo_exchange *x, int direction)
{
    return x->grid.dims[direction] * x->box.extent[direction];
}

static bool in_halo(const struct halo_exchange *x, int direction, int64_t position)
{
    return position == 0 || position > x->box.extent[direction];
}

/* What is at a position before a swap or after it: the box has values that tell
   where in the whole grid it is, and in which swap; so have the halo's faces after
   it, as their neighbours' have. Edges and corners are never touched. */
static double value_at(const struct halo_exchange *x, int64_t swap, bool after,
                       const int64_t position[HALO_DIRECTIONS])
{
    int64_t place = 0;
    int outside = 0;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        outside += in_halo(x, d, position[d]);
        place =
            place * global_extent(x, d) + halo_global_position(&x->grid, &x->box, d, position[d]);
    }
    if (outside > (after ? 1 : 0))
        return UNTOUCHED;
    return (double)(place * SWAPS_TOLD_APART + swap % SWAPS_TOLD_APART);
}

static void prepare(const struct halo_exchange *x, int64_t swap)
{
    double *value = x->values;
    int64_t p[HALO_DIRECTIONS];
    for (p[0] = 0; p[0] < halo_array_extent(&x->box, 0); p[0]++)
        for (p[1] = 0; p[1] < halo_array_extent(&x->box, 1); p[1]++)
            for (p[2] = 0; p[2] < halo_array_extent(&x->box, 2); p[2]++)
                *value++ = value_at(x, swap, false, p);
}

static bool is_right(const struct halo_exchange *x, int64_t swap)
{
    const double *value = x->values;
    int64_t p[HALO_DIRECTIONS];
    for (p[0] = 0; p[0] < halo_array_extent(&x->box, 0); p[0]++)
        for (p[1] = 0; p[1] < halo_array_extent(&x->box, 1); p[1]++)
            for (p[2] = 0; p[2] < halo_array_extent(&x->box, 2); p[2]++)
                if (*value++ != value_at(x, swap, true, p))
                    return false;
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

double halo_swap_often(const struct halo_method *method, const struct halo_exchange *exchange,
                       int64_t repetitions, struct bc_start_window *window)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++)
        method->swap(exchange);
    return bc_start_window_time(window, 0, start_ns, bc_now_ns());
}

static double repeat(void *context, int64_t repetitions)
{
    const struct round *const round = context;
    return halo_swap_often(round->method, round->exchange, repetitions, round->window);
}

/* The barrier, or the window, is for the time alone, so that no rank waits in it
   for another one's data to be made. There is none after the swap: what comes to
   the array or is read from it too late is to be seen. */
static double repeat_checked(void *context, int64_t repetitions)
{
    struct round *const round = context;
    double ns = 0.0;
    for (int64_t i = 0; i < repetitions; i++) {
        prepare(round->exchange, round->swaps);
        if (round->window != NULL)
            bc_start_window_wait(round->window);
        else
            bc_harness_release(round->exchange->comm);
        ns += halo_swap_often(round->method, round->exchange, 1, round->window);
        if (!is_right(round->exchange, round->swaps))
            round->wrong++;
        round->swaps++;
    }
    return ns;
}

void halo_measure(const struct bc_run *run, struct bc_sampler *sampler,
                  const struct halo_method *method, const struct halo_exchange *exchange,
                  double seconds, struct halo_result *result)
{
    const bool check = run->settings.check;
    struct round round = {.method = method, .exchange = exchange, .window = run->window};
    const struct bc_batch batch = {
        .repeat = check ? repeat_checked : repeat,
        .context = &round,
        .repetitions = check ? 1 : 0,
        .clock_readings = 1.0,
        .quantity = "swap",
        .window = run->window,
    };
    bc_batch_measure(run, sampler, &batch, seconds, &result->times);
    result->wrong = 0;
    if (check)
        bc_harness_reduce(&round.wrong, &result->wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
}
