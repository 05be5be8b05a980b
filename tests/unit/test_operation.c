/* Values of elements of all types, and what reductions make of them, against sums by hand. */
#include "helpers.h"

#include "operations/operation.h"

#include <string.h>

static double sent(struct op_instance *operation, int rank, int64_t i)
{
    operation->shape.rank = rank;
    return op_element(operation, OP_TO_ALL, i);
}

/* What the ranks below `ranks` have together. */
static double by_hand(struct op_instance *operation, int ranks, int64_t i)
{
    double found = sent(operation, 0, i);
    for (int rank = 1; rank < ranks; rank++) {
        const double value = sent(operation, rank, i);
        if (operation->reduction == OP_BY_SUM)
            found += value;
        else if ((value > found) == (operation->reduction == OP_BY_MAX))
            found = value;
    }
    return operation->shape.type == OP_CHAR ? (double)((int)found % 256) : found;
}

TEST(reductions_are_exact)
{
    static const int counts[] = {1, 2, 6, 7, 8, 20, 1000};
    static const struct op_kind kind = {.layout = OP_REDUCED};
    for (int type = 0; type < OP_TYPES; type++)
        for (int reduction = 0; reduction < OP_REDUCTIONS; reduction++)
            for (size_t c = 0; c < COUNT(counts); c++)
                for (int64_t i = 0; i < 40; i++) {
                    struct op_instance operation = {
                        .kind = &kind,
                        .shape = {.ranks = counts[c], .type = (enum op_type)type, .elements = 40},
                        .reduction = (enum op_reduction)reduction,
                    };
                    const double found = op_element(&operation, OP_SUM, i);
                    assert_true(found == by_hand(&operation, counts[c], i));
                    operation.shape.rank = counts[c] - 1;
                    assert_true(op_element(&operation, OP_SUM_UP_TO_ME, i) == found);
                }
}

static void store(enum op_type type, void *buffer, int64_t i, double value)
{
    const double as_double = value;
    const float as_float = (float)value;
    const int as_int = (int)value;
    const unsigned char as_char = (unsigned char)value;
    const void *const stored[] = {&as_double, &as_float, &as_int, &as_char};
    const size_t bytes = (size_t)op_type_bytes(type);
    memcpy((char *)buffer + (size_t)i * bytes, stored[type], bytes);
}

/* Each type holds its values: what is sent is there, and not where a block is missing. */
TEST(types_hold_their_values)
{
    enum { RANKS = 5, ELEMENTS = 6 };
    static const struct op_kind gather = {
        .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
        .receive = {OP_BLOCK_PER_RANK, OP_ON_ALL, OP_FROM_EACH},
        .in_place = OP_BLOCK_IN_PLACE,
    };
    for (int type = 0; type < OP_TYPES; type++) {
        double send[RANKS * ELEMENTS] = {0.0}, receive[RANKS * ELEMENTS] = {0.0};
        const size_t block = (size_t)(ELEMENTS * op_type_bytes((enum op_type)type));
        struct op_instance operation = {
            .kind = &gather,
            .shape = {.ranks = RANKS, .type = (enum op_type)type, .elements = ELEMENTS},
            .in_place = true,
            .send_buffer = bc_buffer_in(send, sizeof send),
            .receive_buffer = bc_buffer_in(receive, sizeof receive),
        };
        char *const blocks = (char *)receive;
        char from_each[sizeof receive];
        /* Each rank in turn leaves its block in place, which is what is sent. */
        for (int rank = 0; rank < RANKS; rank++) {
            operation.shape.rank = rank;
            for (int64_t i = 0; i < ELEMENTS; i++)
                store((enum op_type)type, send, i, op_element(&operation, OP_TO_ALL, i));
            op_poison(&operation);
            memcpy(from_each + (size_t)rank * block, blocks + (size_t)rank * block, block);
        }
        assert_false(op_verify(&operation)); /* but for the last rank's all is poison */
        memcpy(receive, from_each, RANKS * block);
        assert_true(op_verify(&operation));
        memcpy(blocks, blocks + block, block);
        assert_false(op_verify(&operation));
    }
}

/* A reduction in place overwrites what is sent: it is there again before the next one, on the root
   where there is one. */
TEST(in_place_is_filled_again)
{
    enum { RANKS = 3, ELEMENTS = 4 };
    static const struct op_kind kinds[] = {
        {.send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
         .receive = {OP_BLOCK, OP_ON_ALL, OP_SUM},
         .in_place = OP_WHOLE_IN_PLACE},
        {.send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
         .receive = {OP_BLOCK, OP_ON_ROOT, OP_SUM},
         .in_place = OP_WHOLE_IN_PLACE},
    };
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (int in_place = 0; in_place < 2; in_place++)
            for (int rank = 0; rank < RANKS; rank++) {
                double send[ELEMENTS] = {1.0, 2.0, 3.0, 4.0}, receive[ELEMENTS] = {0.0};
                struct op_instance operation = {
                    .kind = &kinds[k],
                    .shape = {.ranks = RANKS, .rank = rank, .elements = ELEMENTS},
                    .in_place = in_place != 0,
                    .send_buffer = bc_buffer_in(send, sizeof send),
                    .receive_buffer = bc_buffer_in(receive, sizeof receive),
                };
                op_set_root(&operation, 1);
                op_refill(&operation);
                const bool has_it = in_place && (k == 0 || rank == 1);
                assert_true((operation.send == MPI_IN_PLACE) == has_it);
                for (int i = 0; i < ELEMENTS; i++)
                    assert_true((send[i] == receive[i]) == has_it);
            }
}

/* A staged operation copies what its rank sends, from where it lies in place, too, and what it
   receives, where that isn't in host memory. */
TEST(staged_copies_what_moves)
{
    enum { RANKS = 3, ELEMENTS = 4, ROOT = 1, BLOCK = ELEMENTS * sizeof(double) };
    static const struct op_kind gather = {
        .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
        .receive = {OP_BLOCK_PER_RANK, OP_ON_ROOT, OP_FROM_EACH},
        .in_place = OP_BLOCK_IN_PLACE,
    };
    double send[ELEMENTS] = {0.0}, receive[RANKS * ELEMENTS] = {0.0};
    void *const device = send; /* which nothing calls */
    for (int rank = 0; rank < RANKS; rank++)
        for (int in_place = 0; in_place < 2; in_place++)
            for (int memory = 0; memory <= BC_MEMORY_MANAGED; memory++) {
                struct op_instance operation = {
                    .kind = &gather,
                    .shape = {.ranks = RANKS, .rank = rank, .elements = ELEMENTS},
                    .in_place = in_place != 0,
                    .send_buffer = bc_buffer_in(send, sizeof send),
                    .receive_buffer = bc_buffer_in(receive, sizeof receive),
                    .space.device = device,
                };
                operation.send_buffer.memory = operation.receive_buffer.memory =
                    (enum bc_memory)memory;
                op_set_root(&operation, ROOT);
                const bool copies = memory == BC_MEMORY_DEVICE || memory == BC_MEMORY_MANAGED;
                const bool is_root = rank == ROOT;
                assert_ptr_equal(operation.sent.start,
                                 in_place && is_root ? receive + ROOT * ELEMENTS : send);
                assert_ptr_equal(operation.received.start, receive);
                assert_int_equal(operation.sent.bytes, copies ? BLOCK : 0);
                assert_int_equal(operation.received.bytes, copies && is_root ? RANKS * BLOCK : 0);
            }
}
