/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that MPI hands out again before the call that completed them has looked, as happens at
 * MPI_THREAD_MULTIPLE. Calls no MPI function.
 */
#include "helpers.h"

#include "monitor/lib/count/requests.h"

#include <stdbool.h>

/* ---- stand-ins for other modules ------------------------------------------------------------- */

void communicator_hold(int communicator) { (void)communicator; }

void communicator_release(int communicator) { (void)communicator; }

static int untracked, freed_without_room;

void operation_untracked(const struct operation *operation) { untracked++; }

void operation_ended_when_posted(const struct operation *operation) {}

void object_without_room(void) {}

void object_without_room_freed(void) { freed_without_room++; }

/* ---- operations, each of its own size -------------------------------------------------------- */

static MPI_Request request_of(int number)
{
    MPI_Request made;
    memset(&made, 0, sizeof made);
    memcpy(&made, &number, sizeof number);
    return made;
}

static enum request_added add(int request, int64_t size)
{
    const struct operation operation = {.size = size, .receives = true};
    return request_add(request_of(request), &operation);
}

enum { NOTHING = -1 };

/* The size of the operation that the call takes out for this request. */
static int64_t taken_by(struct completing *call, int request)
{
    const int32_t number = completing_take(call, request_of(request));
    if (number == NONE)
        return NOTHING;
    const int64_t size = request_operation(number)->size;
    request_release(number);
    return size;
}

/* The size of the oldest operation in flight. */
static int64_t taken(int request)
{
    struct operation operation;
    return request_take(request_of(request), &operation) ? operation.size : NOTHING;
}

enum { COUNT_MAX = 3 };

static MPI_Request requests[2][COUNT_MAX];

/* Begins a call on these requests. */
static struct completing begin_of(int number, int count, const int *of)
{
    for (int i = 0; i < count; i++)
        requests[number][i] = request_of(of[i]);
    return (struct completing){.requests = requests[number], .count = count};
}

#define BEGIN(number, ...)                                                                         \
    begin_of(number, (int)COUNT(((const int[]){__VA_ARGS__})), (const int[]){__VA_ARGS__})

static int set_up(void **state)
{
    monitor_lock_needed = true;
    return 0;
}

static int tear_down(void **state)
{
    requests_clear();
    return 0;
}

/* ---- calls in progress ----------------------------------------------------------------------- */

/* The call has the first operation, even if another thread looks first. The second one is in
 * flight. */
TEST(a_request_that_a_call_has_completed)
{
    for (int turn = 0; turn < 2; turn++) {
        struct completing call = BEGIN(0, 1, 2);
        assert_int_equal(add(1, 10), REQUEST_ADDED);
        assert_int_equal(add(2, 20), REQUEST_ADDED);
        completing_begin(&call);
        assert_int_equal(add(1, 11), REQUEST_ADDED);
        if (turn == 1)
            assert_int_equal(taken(1), 11);
        assert_int_equal(taken_by(&call, 1), 10);
        assert_int_equal(taken_by(&call, 2), 20);
        completing_end(&call);
        assert_int_equal(taken(1), turn == 0 ? 11 : NOTHING);
        assert_int_equal(taken(1), NOTHING);
        assert_int_equal(taken(2), NOTHING);
    }
}

/* Operations that the call has not completed are in flight afterwards, oldest first. */
TEST(a_request_that_a_call_has_not_completed)
{
    struct completing call = BEGIN(0, 3);
    assert_int_equal(add(3, 30), REQUEST_ADDED);
    completing_begin(&call);
    assert_int_equal(add(3, 31), REQUEST_ADDED);
    completing_end(&call);
    assert_int_equal(taken(3), 30);
    assert_int_equal(taken(3), 31);
}

/* Each of two calls has an operation for each of its requests. */
TEST(two_calls_on_one_request)
{
    struct completing first = BEGIN(0, 4), second = BEGIN(1, 4, 4, 5);
    for (int i = 0; i < 4; i++) {
        /* It is in flight with the earlier ones, which a call that completed nothing kept. */
        struct completing before = BEGIN(0, 4, 4, 4);
        completing_begin(&before);
        assert_int_equal(add(4, 40 + i), REQUEST_ADDED);
        completing_end(&before);
    }
    completing_begin(&first);
    completing_begin(&second);
    assert_int_equal(taken(4), 43); /* the first three are kept for the calls */
    assert_int_equal(taken_by(&first, 4) + taken_by(&second, 4) + taken_by(&second, 4), 123);
    assert_int_equal(taken_by(&first, 4), NOTHING);
    completing_end(&first);
    completing_end(&second);
}

/* All operations are forgotten, except one that a thread has taken out. */
TEST(forgotten_while_a_call_is_in_progress)
{
    struct completing call = BEGIN(0, 8, 9);
    assert_int_equal(add(8, 80), REQUEST_ADDED);
    assert_int_equal(add(9, 90), REQUEST_ADDED);
    completing_begin(&call);
    assert_int_equal(add(8, 81), REQUEST_ADDED);
    const int32_t in_hand = completing_take(&call, request_of(9));
    requests_clear();
    for (int i = 0; i < REQUESTS_MAX - 1; i++)
        assert_int_equal(add(100 + i, i), REQUEST_ADDED);
    assert_int_equal(add(10, 100), REQUEST_WITHOUT_ROOM);
    assert_int_equal(request_operation(in_hand)->size, 90);
    assert_int_equal(taken_by(&call, 8), NOTHING);
    request_release(in_hand);
    completing_end(&call);
    assert_int_equal(add(10, 100), REQUEST_ADDED);
}

/* ---- persistent requests --------------------------------------------------------------------- */

TEST(persistent_requests_without_room_that_are_freed)
{
    const struct plan plan = {.kind = OPERATION_Send_init};
    for (int i = 0; i < PERSISTENT_MAX + 2; i++)
        persistent_made(request_of(i + 1), &plan);
    assert_int_equal(add(1, 1), REQUEST_ADDED);
    request_forget(request_of(1));
    assert_int_equal(freed_without_room, 0);
    for (int i = PERSISTENT_MAX; i < PERSISTENT_MAX + 2; i++)
        request_forget(request_of(i + 1));
    assert_int_equal(freed_without_room, 2);
    assert_int_equal(untracked, 0);
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
