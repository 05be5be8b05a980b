/*
 * A halo of several fields on a ring of ranks: in each step all compute, swap the edges of their
 * fields with their neighbours, and agree on a number, so that no work is left to hide the
 * messages.
 *
 * Fault: a message for each field. Mended, the fields are packed into one message.
 *
 * usage: halo STEPS FIELDS FIELD_BYTES WORK_US [mended]
 */
#include "example.h"

struct halo {
    MPI_Comm comm;
    struct ring ring;
    int fields, field_bytes;
    char **own, **received[2];  /* of each field; received by side */
    char *packed, *unpacked[2]; /* all fields, one after the other */
    MPI_Request *requests;
    MPI_Status *statuses;
};

static char **create_fields(int fields, int bytes)
{
    char **const field = zeros((size_t)fields * sizeof *field);
    for (int i = 0; i < fields; i++)
        field[i] = zeros((size_t)bytes);
    return field;
}

static void free_fields(char **field, int fields)
{
    for (int i = 0; i < fields; i++)
        free(field[i]);
    free(field);
}

static void create(struct halo *halo)
{
    const size_t bytes = (size_t)halo->fields * (size_t)halo->field_bytes;
    MPI_Comm_dup(MPI_COMM_WORLD, &halo->comm);
    MPI_Comm_set_name(halo->comm, "fields");
    halo->own = create_fields(halo->fields, halo->field_bytes);
    halo->packed = zeros(bytes);
    for (int side = 0; side < 2; side++) {
        halo->received[side] = create_fields(halo->fields, halo->field_bytes);
        halo->unpacked[side] = zeros(bytes);
    }
    halo->requests = zeros(4 * (size_t)halo->fields * sizeof *halo->requests);
    halo->statuses = zeros(4 * (size_t)halo->fields * sizeof *halo->statuses);
}

static void destroy(struct halo *halo)
{
    free_fields(halo->own, halo->fields);
    free(halo->packed);
    for (int side = 0; side < 2; side++) {
        free_fields(halo->received[side], halo->fields);
        free(halo->unpacked[side]);
    }
    free(halo->requests);
    free(halo->statuses);
    MPI_Comm_free(&halo->comm);
}

/* Swaps these messages with each neighbour: received[side] and sent have `count` of `bytes` each.
 */
static void swap(struct halo *halo, char **received[2], char **sent, int count, int bytes)
{
    MPI_Request *next = halo->requests;
    for (int side = 0; side < halo->ring.sides; side++)
        for (int i = 0; i < count; i++)
            MPI_Irecv(received[side][i], bytes, MPI_CHAR, halo->ring.neighbour[side], i, halo->comm,
                      next++);
    for (int side = 0; side < halo->ring.sides; side++)
        for (int i = 0; i < count; i++)
            MPI_Isend(sent[i], bytes, MPI_CHAR, halo->ring.neighbour[side], i, halo->comm, next++);
    MPI_Waitall(2 * halo->ring.sides * count, halo->requests, halo->statuses);
}

static void swap_packed(struct halo *halo)
{
    const size_t bytes = (size_t)halo->field_bytes;
    char **unpacked[2] = {&halo->unpacked[0], &halo->unpacked[1]};
    for (int i = 0; i < halo->fields; i++)
        memcpy(halo->packed + (size_t)i * bytes, halo->own[i], bytes);
    swap(halo, unpacked, &halo->packed, 1, halo->fields * halo->field_bytes);
    for (int side = 0; side < halo->ring.sides; side++)
        for (int i = 0; i < halo->fields; i++)
            memcpy(halo->received[side][i], halo->unpacked[side] + (size_t)i * bytes, bytes);
}

int main(int argc, char **argv)
{
    double numbers[4] = {0};
    const struct example example =
        example_init(argc, argv, "halo STEPS FIELDS FIELD_BYTES WORK_US [mended]", 4, numbers);
    const int steps = (int)numbers[0];
    const double work_us = numbers[3];
    struct halo halo = {
        .ring = ring_of(&example), .fields = (int)numbers[1], .field_bytes = (int)numbers[2]};
    double change = 1.0;
    create(&halo);

    const int64_t begin_ns = loop_begin();
    for (int step = 0; step < steps; step++) {
        work(work_us);
        if (example.mended)
            swap_packed(&halo);
        else
            swap(&halo, halo.received, halo.own, halo.fields, halo.field_bytes);
        MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, halo.comm);
    }
    loop_end(&example, begin_ns);

    destroy(&halo);
    MPI_Finalize();
    return 0;
}
