/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/operations/buffers.h"

#include "common/device/device.h"

#include <math.h>
#include <string.h>

static double element_in(const void *buffer, enum op_type type, int64_t i)
{
    switch (type) {
    case OP_DOUBLE:
        return ((const double *)buffer)[i];
    case OP_FLOAT:
        return (double)((const float *)buffer)[i];
    case OP_INT:
        return (double)((const int *)buffer)[i];
    default:
        return (double)((const unsigned char *)buffer)[i];
    }
}

static void set_element(void *buffer, enum op_type type, int64_t i, double value)
{
    switch (type) {
    case OP_DOUBLE:
        ((double *)buffer)[i] = value;
        break;
    case OP_FLOAT:
        ((float *)buffer)[i] = (float)value;
        break;
    case OP_INT:
        ((int *)buffer)[i] = (int)value;
        break;
    default:
        ((unsigned char *)buffer)[i] = (unsigned char)(int)value;
    }
}

/* Returns the number of elements of a buffer, or its maximum over roots. */
static int64_t capacity(const struct op_buffer *buffer, struct op_shape shape, bool any_root)
{
    const int64_t now = op_elements(buffer, &shape);
    shape.root = shape.root == shape.rank ? -1 : shape.rank;
    const int64_t other = any_root ? op_elements(buffer, &shape) : 0;
    return other > now ? other : now;
}

void op_buffers_create(struct op_instance *operation, bool any_root)
{
    const struct op_kind *const kind = operation->kind;
    const struct op_shape *const shape = &operation->shape;
    const struct op_space *const space = &operation->space;
    if (kind->send.extent == OP_NO_BUFFER)
        return;
    const int64_t bytes = op_type_bytes(shape->type);
    const int64_t send_count = capacity(&kind->send, *shape, any_root);
    int64_t receive_count = capacity(&kind->receive, *shape, any_root);
    if (operation->in_place && receive_count < send_count)
        receive_count = send_count;
    bc_buffer_create(&operation->send_buffer, space->device, space->send,
                     (size_t)(send_count * bytes), true, "smaller sizes");
    bc_buffer_create(&operation->receive_buffer, space->device, space->receive,
                     (size_t)(receive_count * bytes), true, "smaller sizes");
    for (int64_t i = 0; i < send_count; i++)
        set_element(operation->send_buffer.image, shape->type, i,
                    op_element(shape, kind->send.values, i));
    bc_buffer_write(&operation->send_buffer, operation->send_buffer.bytes);
}

/* True if this rank passes MPI_IN_PLACE. */
static bool is_in_place(const struct op_instance *operation)
{
    const struct op_kind *const kind = operation->kind;
    const bool is_root = operation->shape.rank == operation->shape.root;
    const bool is_rooted = kind->in_place == OP_ROOT_KEEPS || kind->receive.holders == OP_ON_ROOT;
    return operation->in_place && (is_root || !is_rooted);
}

/* Returns the index of the first element that this rank sends in place. */
static int64_t first_in_place(const struct op_instance *operation)
{
    const struct op_shape *const shape = &operation->shape;
    if (operation->kind->in_place == OP_WHOLE_IN_PLACE)
        return 0;
    return shape->starts != NULL ? shape->starts[shape->rank] : shape->rank * shape->elements;
}

static size_t bytes_in(const struct op_instance *operation, const struct op_buffer *buffer)
{
    return (size_t)(op_elements(buffer, &operation->shape) * op_type_bytes(operation->shape.type));
}

static void find_copies(struct op_instance *operation)
{
    const struct op_kind *const kind = operation->kind;
    const bool in_place = operation->send == MPI_IN_PLACE;
    const struct bc_buffer *const from =
        in_place ? &operation->receive_buffer : &operation->send_buffer;
    const struct bc_buffer *const to = &operation->receive_buffer;
    const int64_t first = in_place ? first_in_place(operation) : 0;
    operation->sent.start = (char *)from->start + first * op_type_bytes(operation->shape.type);
    operation->sent.bytes =
        bc_memory_needs_copy(from->memory) ? bytes_in(operation, &kind->send) : 0;
    operation->received.start = to->start;
    operation->received.bytes =
        bc_memory_needs_copy(to->memory) && operation->receive != MPI_IN_PLACE
            ? bytes_in(operation, &kind->receive)
            : 0;
}

void op_set_root(struct op_instance *operation, int root)
{
    operation->shape.root = root;
    const bool keeps = operation->kind->in_place == OP_ROOT_KEEPS;
    const bool in_place = is_in_place(operation);
    operation->send = in_place && !keeps ? MPI_IN_PLACE : operation->send_buffer.start;
    operation->receive = in_place && keeps ? MPI_IN_PLACE : operation->receive_buffer.start;
    if (operation->space.device != NULL)
        find_copies(operation);
}

void op_renew(struct op_instance *operation)
{
    /* A kind with `create` has a window, whose memory holds data on ranks that don't work. */
    if (operation->send_buffer.start == NULL ||
        (operation->kind->create != NULL && !operation->works))
        return;
    bc_buffer_renew(&operation->send_buffer);
    bc_buffer_renew(&operation->receive_buffer);
    op_set_root(operation, operation->shape.root);
}

/* Copies the data that this rank sends to its place in the image of the receive buffer. */
static void fill_in_place(struct op_instance *operation)
{
    memcpy((char *)operation->receive_buffer.image +
               first_in_place(operation) * op_type_bytes(operation->shape.type),
           operation->send_buffer.image, bytes_in(operation, &operation->kind->send));
}

void op_refill(struct op_instance *operation)
{
    if (operation->kind->in_place != OP_WHOLE_IN_PLACE || !is_in_place(operation))
        return;
    fill_in_place(operation);
    bc_buffer_write(&operation->receive_buffer, operation->receive_buffer.bytes);
}

void op_buffers_destroy(struct op_instance *operation)
{
    if (operation->send_buffer.start == NULL)
        return;
    bc_buffer_destroy(&operation->send_buffer);
    bc_buffer_destroy(&operation->receive_buffer);
}

void op_copy_sent(const struct op_instance *to, const struct op_instance *from)
{
    if (from->sent.bytes > 0)
        bc_device_copy(from->space.device, to->sent.start, from->sent.start, from->sent.bytes);
}

void op_copy_received(const struct op_instance *to, const struct op_instance *from)
{
    if (to->received.bytes > 0)
        bc_device_copy(to->space.device, to->received.start, from->received.start,
                       to->received.bytes);
}

void op_prepare_check(struct op_instance *operation)
{
    struct bc_buffer *const buffer = &operation->receive_buffer;
    if (operation->prepare != NULL)
        operation->prepare(operation);
    if (buffer->start == NULL)
        return;
    const int64_t count = op_elements(&operation->kind->receive, &operation->shape);
    for (int64_t i = 0; i < count; i++)
        set_element(buffer->image, operation->shape.type, i, -1.0);
    if (operation->kind->in_place != OP_ROOT_KEEPS && is_in_place(operation))
        fill_in_place(operation);
    bc_buffer_write(buffer, buffer->bytes);
    if (operation->settle != NULL)
        operation->settle(operation);
}

/* True if all values are right. Any wrong bit shows, since expected numbers are whole. */
static bool are_right(const struct op_instance *operation, const void *values, int64_t count)
{
    bool right = true;
    for (int64_t i = 0; i < count && right; i++) {
        const double expected = op_element(&operation->shape, operation->kind->receive.values, i);
        right = isnan(expected) || element_in(values, operation->shape.type, i) == expected;
    }
    return right;
}

bool op_verify(struct op_instance *operation)
{
    const struct op_kind *const kind = operation->kind;
    if (operation->settle != NULL)
        operation->settle(operation);
    if (operation->is_right != NULL)
        return operation->is_right(operation);
    if (operation->receive_buffer.start == NULL || operation->receive == MPI_IN_PLACE)
        return true;
    return bc_buffer_read(&operation->receive_buffer, bytes_in(operation, &kind->receive)) &&
           are_right(operation, operation->receive_buffer.image,
                     op_elements(&kind->receive, &operation->shape));
}
