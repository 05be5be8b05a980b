/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program as people write them: heat in a square plate, by Jacobi's method on a grid of
 * processes. Four neighbours swap their edges with non-blocking messages; every tenth step all
 * agree on the largest change.
 *
 * usage: stencil [POINTS A SIDE] [STEPS]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NORTH, SOUTH, WEST, EAST, SIDES };
enum { AGREE_EVERY = 10 };

struct plate {
    MPI_Comm grid;
    int neighbour[SIDES];
    int rows, columns; /* of this process, without the border */
    MPI_Datatype row, column;
    double *now, *next;
};

static double *at(const struct plate *plate, double *values, int row, int column)
{
    return &values[(size_t)row * (size_t)(plate->columns + 2) + (size_t)column];
}

static void create(struct plate *plate, int points)
{
    int ranks, dims[2] = {0, 0}, periods[2] = {0, 0}, rank, place[2];
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &plate->grid);
    MPI_Comm_set_name(plate->grid, "grid");
    MPI_Cart_shift(plate->grid, 0, 1, &plate->neighbour[NORTH], &plate->neighbour[SOUTH]);
    MPI_Cart_shift(plate->grid, 1, 1, &plate->neighbour[WEST], &plate->neighbour[EAST]);
    MPI_Comm_rank(plate->grid, &rank);
    MPI_Cart_coords(plate->grid, rank, 2, place);
    plate->rows = points / dims[0] + (place[0] < points % dims[0]);
    plate->columns = points / dims[1] + (place[1] < points % dims[1]);
    MPI_Type_contiguous(plate->columns, MPI_DOUBLE, &plate->row);
    MPI_Type_vector(plate->rows, 1, plate->columns + 2, MPI_DOUBLE, &plate->column);
    MPI_Type_commit(&plate->row);
    MPI_Type_commit(&plate->column);
    const size_t values = (size_t)(plate->rows + 2) * (size_t)(plate->columns + 2);
    plate->now = calloc(values, sizeof(double));
    plate->next = calloc(values, sizeof(double));
    if (plate->now == NULL || plate->next == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    /* The northern edge of the plate is hot. */
    for (int column = 0; plate->neighbour[NORTH] == MPI_PROC_NULL && column < plate->columns + 2;
         column++)
        *at(plate, plate->now, 0, column) = *at(plate, plate->next, 0, column) = 100.0;
}

static void swap_edges(struct plate *plate)
{
    const int rows = plate->rows, columns = plate->columns;
    const struct edge {
        MPI_Datatype type;
        int sent_row, sent_column, received_row, received_column;
    } edges[SIDES] = {
        [NORTH] = {plate->row, 1, 1, 0, 1},
        [SOUTH] = {plate->row, rows, 1, rows + 1, 1},
        [WEST] = {plate->column, 1, 1, 1, 0},
        [EAST] = {plate->column, 1, columns, 1, columns + 1},
    };
    MPI_Request requests[2 * SIDES];
    for (int side = 0; side < SIDES; side++) {
        const struct edge *const edge = &edges[side];
        MPI_Irecv(at(plate, plate->now, edge->received_row, edge->received_column), 1, edge->type,
                  plate->neighbour[side], 0, plate->grid, &requests[side]);
        MPI_Isend(at(plate, plate->now, edge->sent_row, edge->sent_column), 1, edge->type,
                  plate->neighbour[side], 0, plate->grid, &requests[SIDES + side]);
    }
    MPI_Status statuses[2 * SIDES];
    MPI_Waitall(2 * SIDES, requests, statuses);
}

/* One step; returns the largest change. */
static double relax(struct plate *plate)
{
    double largest = 0.0;
    for (int row = 1; row <= plate->rows; row++)
        for (int column = 1; column <= plate->columns; column++) {
            const double value =
                0.25 *
                (*at(plate, plate->now, row - 1, column) + *at(plate, plate->now, row + 1, column) +
                 *at(plate, plate->now, row, column - 1) + *at(plate, plate->now, row, column + 1));
            largest = fmax(largest, fabs(value - *at(plate, plate->now, row, column)));
            *at(plate, plate->next, row, column) = value;
        }
    double *const now = plate->now;
    plate->now = plate->next;
    plate->next = now;
    return largest;
}

static void destroy(struct plate *plate)
{
    free(plate->now);
    free(plate->next);
    MPI_Type_free(&plate->row);
    MPI_Type_free(&plate->column);
    MPI_Comm_free(&plate->grid);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int points = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
    const int steps = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 200;
    struct plate plate;
    create(&plate, points);
    double change = 0.0;
    for (int step = 1; step <= steps; step++) {
        swap_edges(&plate);
        change = relax(&plate);
        if (step % AGREE_EVERY == 0)
            MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, plate.grid);
    }
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        (void)printf("after %d steps the largest change is %.6f\n", steps, change);
    destroy(&plate);
    MPI_Finalize();
    return 0;
}
