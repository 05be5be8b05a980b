/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the functions of functions.def. With ROW defined as NAMES, each row is an
 * OPERATION(Name, class) or, if it is counted as "other MPI", an UNCOUNTED(Name).
 */
#pragma once

#include <mpi.h>

#define NAMES(KIND, ...) NAMES_OF_##KIND(__VA_ARGS__)

#define NAMES_OF_SEND(Name, ...) OPERATION(Name, CLASS_POINT_TO_POINT)
#define NAMES_OF_RECEIVE(Name, ...) OPERATION(Name, CLASS_POINT_TO_POINT)
#define NAMES_OF_MESSAGE(Name, ...) OPERATION(Name, CLASS_POINT_TO_POINT)
#define NAMES_OF_PERSISTENT(Name, ...) OPERATION(Name, CLASS_POINT_TO_POINT)
#define NAMES_OF_ONE_SIDED(Name, ...) OPERATION(Name, CLASS_POINT_TO_POINT)
#define NAMES_OF_ONE_SIDED_REQUEST(Name, ...) OPERATION(Name, CLASS_POINT_TO_POINT)
#define NAMES_OF_WINDOW_CREATION(Name, ...) OPERATION(Name, CLASS_COLLECTIVE)
#define NAMES_OF_CREATION(Name, ...) OPERATION(Name, CLASS_COLLECTIVE)
#define NAMES_OF_DUPLICATION(Name, ...) OPERATION(Name, CLASS_COLLECTIVE)
#define NAMES_OF_CALL(Name, ...) OPERATION(Name, CLASS_CALLS)
#define NAMES_OF_MATCHED_PROBE(Name, ...) OPERATION(Name, CLASS_CALLS)
#define NAMES_OF_MATCHED_RECEIVE(Name, ...) OPERATION(Name, CLASS_POINT_TO_POINT)
#define NAMES_OF_MATCHED_START(Name, ...) OPERATION(Name, CLASS_POINT_TO_POINT)
#define NAMES_OF_FREEING(Name, ...) OPERATION(Name, CLASS_COLLECTIVE)
#define NAMES_OF_CLOSING(Name, ...) OPERATION(Name, CLASS_COLLECTIVE)
#define NAMES_OF_SYNCHRONISATION(Name, ...) OPERATION(Name, CLASS_CALLS)
#define NAMES_OF_FILE_CALL(Name, ...) OPERATION(Name, CLASS_FILES)
#define NAMES_OF_FILE_START(Name, ...) OPERATION(Name, CLASS_FILES)
#define NAMES_OF_OTHER(Name, ...) UNCOUNTED(Name)
#define NAMES_OF_ANY_THREAD(Name, ...) UNCOUNTED(Name)
#define NAMES_OF_REMEMBERED(Name, ...) UNCOUNTED(Name)
#define NAMES_OF_DATATYPE(Name, ...) UNCOUNTED(Name)
#define NAMES_OF_BY_HAND(Name, Class) OPERATION(Name, Class)
#define NAMES_OF_BY_HAND_OTHER(Name) UNCOUNTED(Name)
#define NAMES_OF_COLLECTIVE(Name, Nonblocking, ...)                                                \
    OPERATION(Name, CLASS_COLLECTIVE)                                                              \
    OPERATION(Nonblocking, CLASS_COLLECTIVE) NAMES_OF_PERSISTENT_COLLECTIVE(Name##_init)
#if MPI_VERSION >= 4
#define NAMES_OF_PERSISTENT_COLLECTIVE(Name) OPERATION(Name, CLASS_COLLECTIVE)
#else
#define NAMES_OF_PERSISTENT_COLLECTIVE(Name)
#endif

/* NAMED(types) expands to (parameters), (arguments), which are named by position. */
#define NAMED_1(A) (A a), (a)
#define NAMED_2(A, B) (A a, B b), (a, b)
#define NAMED_3(A, B, C) (A a, B b, C c), (a, b, c)
#define NAMED_4(A, B, C, D) (A a, B b, C c, D d), (a, b, c, d)
#define NAMED_5(A, B, C, D, E) (A a, B b, C c, D d, E e), (a, b, c, d, e)
#define NAMED_6(A, B, C, D, E, F) (A a, B b, C c, D d, E e, F f), (a, b, c, d, e, f)
#define NAMED_7(A, B, C, D, E, F, G) (A a, B b, C c, D d, E e, F f, G g), (a, b, c, d, e, f, g)
#define NAMED_8(A, B, C, D, E, F, G, H)                                                            \
    (A a, B b, C c, D d, E e, F f, G g, H h), (a, b, c, d, e, f, g, h)
#define NAMED_9(A, B, C, D, E, F, G, H, I)                                                         \
    (A a, B b, C c, D d, E e, F f, G g, H h, I i), (a, b, c, d, e, f, g, h, i)
#define NAMED_10(A, B, C, D, E, F, G, H, I, J)                                                     \
    (A a, B b, C c, D d, E e, F f, G g, H h, I i, J j), (a, b, c, d, e, f, g, h, i, j)
#define ELEVENTH(a, b, c, d, e, f, g, h, i, j, k, ...) k
#define NAMED(...)                                                                                 \
    ELEVENTH(__VA_ARGS__, NAMED_10, NAMED_9, NAMED_8, NAMED_7, NAMED_6, NAMED_5, NAMED_4, NAMED_3, \
             NAMED_2, NAMED_1, )                                                                   \
    (__VA_ARGS__)
