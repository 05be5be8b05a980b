/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/result/warnings.h"
#include "common/halo_swap/methods.h"

#include <stdlib.h>

#define UNTOUCHED (-1.0)

/* Values repeat after this many exchanges. */
#define DISTINCT_EXCHANGES 64

/* Returns the position in the whole grid, counted from 0, of a position in this rank's array.
   Positions of the halo belong to the neighbours. */
static int64_t global_position(const struct halo_exchange *x, int direction, int64_t position)
{
    const int64_t local = x->box.extent[direction];
    const int64_t global = local * x->grid.dims[direction];
    return (x->grid.coords[direction] * local + position - 1 + global) % global;
}

/* Returns the right value at a position before or after an exchange. The box, and afterwards the
   halo's faces, encode position and exchange. Edges and corners never change. */
static double value_at(const struct halo_exchange *x, int64_t swap, bool after,
                       const int64_t position[HALO_DIRECTIONS])
{
    int64_t place = 0;
    int outside = 0;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        outside += position[d] == 0 || position[d] > x->box.extent[d];
        place = place * x->grid.dims[d] * x->box.extent[d] + global_position(x, d, position[d]);
    }
    if (outside > (after ? 1 : 0))
        return UNTOUCHED;
    return (double)(place * DISTINCT_EXCHANGES + swap % DISTINCT_EXCHANGES);
}

/* Writes the right values of an array before or after an exchange, or compares them. */
static bool visit(const struct halo_exchange *x, double *value, int64_t swap, bool after,
                  bool writes)
{
    int64_t p[HALO_DIRECTIONS];
    for (p[0] = 0; p[0] < x->array[0]; p[0]++)
        for (p[1] = 0; p[1] < x->array[1]; p[1]++)
            for (p[2] = 0; p[2] < x->array[2]; p[2]++, value++) {
                const double right = value_at(x, swap, after, p);
                if (writes)
                    *value = right;
                else if (*value != right)
                    return false;
            }
    return true;
}

/* ---- on a device ----------------------------------------------------------------------------- */

static size_t array_bytes(const struct halo_exchange *x)
{
    return (size_t)halo_array_values(&x->box) * sizeof(double);
}

void halo_check_create(struct halo_exchange *x)
{
    const size_t bytes = array_bytes(x);
    if (x->space.device == NULL || x->space.memory == BC_MEMORY_HOST)
        return;
    x->image = bc_allocate(1, bytes, "no memory for %zu bytes", bytes);
    x->filling = bc_device_allocate(x->space.device, BC_MEMORY_DEVICE, bytes);
    if (x->filling == NULL)
        bc_abort("no memory on the device for %zu bytes: use a smaller --local", bytes);
}

void halo_check_destroy(struct halo_exchange *x)
{
    if (x->image == NULL)
        return;
    bc_device_free(x->space.device, BC_MEMORY_DEVICE, x->filling);
    free(x->image);
}

/* Fills the array by a kernel, as a program would compute it. */
static void fill_on_device(const struct halo_exchange *x, int64_t swap)
{
    struct bc_device *const device = x->space.device;
    visit(x, x->image, swap, false, true);
    bc_device_copy(device, x->filling, x->image, array_bytes(x));
    bc_device_move(device, x->values, x->filling, (size_t)halo_array_values(&x->box));
    bc_device_wait(device);
}

static bool is_right_on_device(const struct halo_exchange *x, int64_t swap)
{
    struct bc_device *const device = x->space.device;
    bc_device_copy(device, x->image, x->values, array_bytes(x));
    const bool is_copy_right = visit(x, x->image, swap, true, false);
    visit(x, x->image, swap, true, true);
    bc_device_copy(device, x->filling, x->image, array_bytes(x));
    return bc_device_is_equal(device, x->values, x->filling, (size_t)halo_array_values(&x->box)) &&
           is_copy_right;
}

/* ---- in any memory --------------------------------------------------------------------------- */

void halo_prepare(const struct halo_exchange *x, int64_t swap)
{
    if (x->image != NULL)
        fill_on_device(x, swap);
    else
        visit(x, x->values, swap, false, true);
}

bool halo_is_right(const struct halo_exchange *x, int64_t swap)
{
    return x->image != NULL ? is_right_on_device(x, swap) : visit(x, x->values, swap, true, false);
}

/* True if each face arrives on its side of the halo: block s of the sender must become block s ^ 1
   of the receiver even if both neighbours are the same rank (MPI 4.1, 8.6; erratum of MPI 3.1 in
   MPI 4.0, B.1.1). MPICH 4.0.2 takes the blocks in order, as does Open MPI 4.1.4 in the
   non-blocking call. Collective over `comm`; the same on all ranks. */
static bool places_right(const struct halo_method *method, bool in_parts,
                         const struct halo_grid *grid, MPI_Comm comm)
{
    /* No side is like another. */
    static const struct halo_box box = {{2, 2, 5}};
    struct halo_exchange x;
    halo_exchange_create(&x, method, &box, grid, comm, MPI_COMM_NULL, NULL);
    halo_prepare(&x, 0);
    (in_parts ? halo_swap_in_parts : method->swap)(&x);
    int right = halo_is_right(&x, 0);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, comm));
    halo_exchange_destroy(&x);
    return right != 0;
}

void halo_note_misplaced(const struct halo_method *method, bool in_parts, const char *which,
                         const struct halo_grid *grid, MPI_Comm comm, struct bc_output *output)
{
    if (!places_right(method, in_parts, grid, comm))
        bc_output_remark(output, BC_NOTE_OPPOSITE_FACES, which, method->name);
}
