/* SPDX-License-Identifier: BSD-3-Clause */
/* Values and sizes of an operation's buffers, limits of int counts, and data in place. */
#include "helpers.h"

#include "common/operations/buffers.h"

#include <limits.h>

/* ---- all types ------------------------------------------------------------------------------- */

static double sent(struct op_shape *shape, int rank, int64_t i)
{
    shape->rank = rank;
    return op_element(shape, OP_TO_ALL, i);
}

/* Combines the values of the ranks below `ranks`. */
static double by_hand(struct op_shape *shape, int ranks, int64_t i)
{
    double found = sent(shape, 0, i);
    for (int rank = 1; rank < ranks; rank++) {
        const double value = sent(shape, rank, i);
        if (shape->reduction == OP_BY_SUM)
            found += value;
        else if ((value > found) == (shape->reduction == OP_BY_MAX))
            found = value;
    }
    return shape->type == OP_CHAR ? (double)((int)found % 256) : found;
}

TEST(reductions_are_exact)
{
    static const int counts[] = {1, 2, 6, 7, 8, 20, 1000};
    for (int type = 0; type < OP_TYPES; type++)
        for (int reduction = 0; reduction < OP_REDUCTIONS; reduction++)
            for (size_t c = 0; c < COUNT(counts); c++)
                for (int64_t i = 0; i < 40; i++) {
                    struct op_shape shape = {.ranks = counts[c],
                                             .type = (enum op_type)type,
                                             .reduction = (enum op_reduction)reduction,
                                             .elements = 40};
                    const double found = op_element(&shape, OP_SUM, i);
                    assert_true(found == by_hand(&shape, counts[c], i));
                    shape.rank = counts[c] - 1;
                    assert_true(op_element(&shape, OP_SUM_UP_TO_ME, i) == found);
                }
}

/* ---- in place -------------------------------------------------------------------------------- */

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

/* ---- amounts of the v variants --------------------------------------------------------------- */

/* The ceiling of 2 * elements * (rank + 1) / (ranks + 1), not computed as in op_amount. */
static int64_t expected_amount(int64_t elements, int rank, int ranks)
{
    const int64_t total = 2 * elements * (rank + 1);
    return total / (ranks + 1) + (total % (ranks + 1) != 0);
}

static int64_t elements(enum op_extent extent, const struct op_shape *shape)
{
    const struct op_buffer buffer = {.extent = extent};
    return op_elements(&buffer, shape);
}

TEST(amounts_grow_with_the_rank)
{
    static const int64_t sizes[] = {1, 2, 3, 7, 8, 1000, 131072, 1 << 20};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int ranks = 1; ranks <= 40; ranks++) {
            struct op_shape shape = {.ranks = ranks, .elements = sizes[i]};
            int64_t sum = 0, last = 1;
            for (int rank = 0; rank < ranks; rank++) {
                const int64_t amount = op_amount(&shape, rank);
                assert_int_equal(amount, expected_amount(sizes[i], rank, ranks));
                assert_true(amount >= last);
                last = amount;
                sum += amount;
                shape.rank = rank;
                assert_int_equal(elements(OP_OWN_AMOUNT, &shape), amount);
                assert_int_equal(elements(OP_OWN_AMOUNT_PER_RANK, &shape), amount * ranks);
            }
            assert_int_equal(elements(OP_ALL_AMOUNTS, &shape), sum);
            const double mean = (double)sum / ranks;
            assert_true(mean >= (double)sizes[i] && mean < (double)sizes[i] + 1.0);
        }
}

/* ---- limits of counts ------------------------------------------------------------------------ */

static struct op_kind all_to_all(enum op_layout layout)
{
    return (struct op_kind){
        .name = "all to all",
        .layout = layout,
        .send.extent = OP_OWN_AMOUNT_PER_RANK,
        .receive.extent = OP_ALL_AMOUNTS,
    };
}

TEST(int_limits_of_equal_blocks)
{
    static const struct {
        enum op_extent received;
        int ranks, blocks;
    } cases[] = {{OP_BLOCK, 4096, 1},
                 {OP_BLOCK_PER_RANK, 1, 1},
                 {OP_BLOCK_PER_RANK, 7, 7},
                 {OP_BLOCK_PER_RANK, 4096, 4096},
                 {OP_BLOCK_PER_NEIGHBOUR, 2, 6}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct op_kind kind = {
            .name = "blocks", .send.extent = OP_BLOCK, .receive.extent = cases[i].received};
        struct op_shape shape = {.ranks = cases[i].ranks};
        shape.elements = INT_MAX / cases[i].blocks;
        assert_int_equal(op_passing_of(&kind, &shape), OP_AS_INTS);
        shape.elements++;
        assert_int_equal(op_passing_of(&kind, &shape), OP_AS_TYPES);
    }
}

static void nothing(struct op_instance *operation) { (void)operation; }

/* Beyond ints datatypes are enough for equal blocks and for the w variant; reductions and v
   variants need large counts. */
TEST(what_is_beyond_ints)
{
    static const struct {
        enum op_layout layout;
        enum op_passing without, with; /* the MPI_Count variants */
    } cases[] = {{OP_EQUAL, OP_AS_TYPES, OP_AS_TYPES},
                 {OP_REDUCED, OP_BEYOND, OP_AS_LARGE},
                 {OP_VARYING, OP_BEYOND, OP_AS_LARGE},
                 {OP_VARYING_BYTES, OP_AS_TYPES, OP_AS_TYPES}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct op_kind collective = all_to_all(cases[i].layout);
        struct op_shape shape = {.ranks = 2, .elements = 1 << 20};
        assert_int_equal(op_passing_of(&collective, &shape), OP_AS_INTS);
        shape.elements = INT64_C(1) << 32;
        assert_int_equal(op_passing_of(&collective, &shape), cases[i].without);
        collective.large.start = nothing;
        assert_int_equal(op_passing_of(&collective, &shape), cases[i].with);
    }
}

/* At the largest size that is passed as ints no amount and no displacement exceeds an int; and that
   size is not needlessly small. */
TEST(largest_size_fits)
{
    static const enum op_layout layouts[] = {OP_VARYING, OP_VARYING_BYTES};
    static const int counts[] = {1, 2, 3, 10, 100, 1000, 4096};
    for (size_t i = 0; i < COUNT(layouts) * COUNT(counts); i++) {
        const enum op_layout layout = layouts[i % COUNT(layouts)];
        const int ranks = counts[i / COUNT(layouts)];
        const int64_t unit = layout == OP_VARYING ? 1 : 8;
        const struct op_kind collective = all_to_all(layout);
        struct op_shape shape = {.ranks = ranks};
        int64_t low = 0, high = INT64_C(1) << 32;
        while (low < high) {
            shape.elements = low + (high - low + 1) / 2;
            if (op_passing_of(&collective, &shape) == OP_AS_INTS)
                low = shape.elements;
            else
                high = shape.elements - 1;
        }
        shape.elements = low;
        const int64_t last = op_amount(&shape, ranks - 1);
        const int64_t start = elements(OP_ALL_AMOUNTS, &shape) - last; /* of the last block */
        assert_true(start * unit <= INT_MAX);
        assert_true(last <= INT_MAX && last * (ranks - 1) * unit <= INT_MAX);
        assert_true(low * unit * (ranks + 1) >= INT_MAX / 4);
    }
}

TEST(bytes_of_the_rank_that_needs_most)
{
    struct op_kind gather = {
        .layout = OP_VARYING,
        .send.extent = OP_OWN_AMOUNT,
        .receive = {.extent = OP_ALL_AMOUNTS, .holders = OP_ON_ROOT},
    };
    const struct op_shape shape = {.rank = 0, .ranks = 5, .root = 2, .elements = 10};
    /* The root sends 10 elements and receives 52. */
    assert_near(op_bytes(&gather, &shape), 8.0 * 62.0, 0.0);
    gather.receive = (struct op_buffer){.extent = OP_BLOCK};
    /* The last rank sends 17 elements and receives 10. */
    assert_near(op_bytes(&gather, &shape), 8.0 * 27.0, 0.0);
    const struct op_kind none = {.name = "ibarrier"};
    assert_near(op_bytes(&none, &shape), 0.0, 0.0);
    /* A size beyond any machine's memory must not overflow. */
    struct op_kind all = {
        .send.extent = OP_BLOCK_PER_RANK,
        .receive.extent = OP_BLOCK_PER_RANK,
    };
    const struct op_shape huge = {.ranks = 1 << 20, .elements = 2147483647};
    assert_near(op_bytes(&all, &huge) / (16.0 * 2147483647.0 * 1048576.0), 1.0, 1e-12);
}

/* ---- values of doubles ----------------------------------------------------------------------- */

enum { MANY_ELEMENTS = 1 << 20 };

/* Element i of the block from rank `from` to rank `to`. */
static double sent_to(int from, int to, int64_t i)
{
    const struct op_shape shape = {.rank = from, .elements = MANY_ELEMENTS};
    return op_element(&shape, OP_TO_EACH, to * (int64_t)MANY_ELEMENTS + i);
}

/* The sum of these elements over `ranks` ranks. */
static double sum_to(int ranks, int to, int64_t i)
{
    const struct op_shape shape = {.rank = to, .ranks = ranks, .elements = MANY_ELEMENTS};
    return op_element(&shape, OP_SUM_TO_ME, i);
}

/* Up to more ranks than any machine has. */
TEST(sums_of_many_ranks_are_exact)
{
    for (int ranks = 1 << 10; ranks <= 2000000; ranks *= 2)
        for (int to = ranks - 1; to > 0; to /= 2) {
            const int64_t element = 1020, weight = (int64_t)sent_to(0, to, element) - 1021;
            const int64_t exact = (int64_t)ranks * (ranks + 1) / 2 * 1021 + ranks * weight;
            assert_true(exact < INT64_C(1) << 53);
            assert_true((int64_t)sum_to(ranks, to, element) == exact);
        }
}

/* Another sender, another receiver and the next element have different values. */
TEST(values_tell_their_place)
{
    for (int from = 0; from < 64; from++)
        for (int to = 0; to < 64; to += 7)
            for (int64_t i = 0; i < 1021; i += 17) {
                const double value = sent_to(from, to, i);
                assert_true(value != sent_to(from + 1, to, i));
                assert_true(value != sent_to(from, to + 1, i));
                assert_true(value != sent_to(from, to, i + 1));
                assert_true(value > 0.0); /* poison is -1, fresh memory 0 */
            }
}

static void store(enum op_type type, void *buffer, int64_t i, double value)
{
    const float as_float = (float)value;
    const int as_int = (int)value;
    const unsigned char as_char = (unsigned char)value;
    const void *const stored[] = {&value, &as_float, &as_int, &as_char};
    const size_t bytes = (size_t)op_type_bytes(type);
    memcpy((char *)buffer + (size_t)i * bytes, stored[type], bytes);
}

/* An error in the last bit, too. Before a check all elements are wrong. */
TEST(one_wrong_element_is_found)
{
    enum { RANKS = 3, ELEMENTS = 6, TOTAL = RANKS * ELEMENTS };
    const struct op_kind gather = {
        .layout = OP_EQUAL,
        .send.extent = OP_BLOCK,
        .receive = {OP_BLOCK_PER_RANK, OP_ON_ALL, OP_FROM_EACH},
    };
    double receive[TOTAL], poison[TOTAL];
    for (int type = 0; type < OP_TYPES; type++) {
        const size_t bytes = (size_t)op_type_bytes((enum op_type)type);
        struct op_instance operation = {
            .kind = &gather,
            .shape = {.type = (enum op_type)type, .rank = 1, .ranks = RANKS, .elements = ELEMENTS},
            .receive_buffer = bc_buffer_in(receive, sizeof receive),
        };
        op_prepare_check(&operation);
        memcpy(poison, receive, TOTAL * bytes);
        for (int64_t i = 0; i < TOTAL; i++)
            store((enum op_type)type, receive, i, op_element(&operation.shape, OP_FROM_EACH, i));
        assert_true(op_verify(&operation));
        for (int64_t i = 0; i < TOTAL; i++) {
            const double right = op_element(&operation.shape, OP_FROM_EACH, i);
            store((enum op_type)type, receive, i,
                  type == OP_DOUBLE ? nextafter(right, INFINITY) : right + 1.0);
            assert_false(op_verify(&operation));
            memcpy((char *)receive + (size_t)i * bytes, (char *)poison + (size_t)i * bytes, bytes);
            assert_false(op_verify(&operation));
            store((enum op_type)type, receive, i, right);
        }
    }
}
