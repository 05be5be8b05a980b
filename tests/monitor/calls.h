/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions that a script calls (script.c), and what their arguments are made of.
 */
#ifndef COMMCOST_TESTS_MONITOR_CALLS_H
#define COMMCOST_TESTS_MONITOR_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { REQUESTS_MAX = 1 << 17, STATUSES_MAX = 256, WORDS_MAX = 16 };
enum { NOT_KNOWN = -2 }; /* of `expected` */

extern int me, partner; /* the ranks */
extern MPI_Request requests[REQUESTS_MAX];
extern MPI_Status statuses[STATUSES_MAX];

/* Communicators and windows, by their names in scripts. */
struct object {
    char name[32];
    MPI_Comm comm;
    MPI_Win win;
};

/* The object of this name, which is made if there is none. */
struct object *object_of(const char *name);

/* A statement. */
struct call {
    const char *text;
    bool is_hidden, must_fail, may_fail;
    int count, peer, tag, expected, times, first, last;
    MPI_Datatype type;
    bool wants_status, once, all;
    struct object *object, *made;
    int slot; /* of the requests from `first` to `last`, the one that is used now */
    char *words[WORDS_MAX + 1];
};

/* Which requests a function is called for. */
enum form {
    ONCE,
    RECEIVES, /* once; also returns a status */
    EACH      /* for each request */
};

struct function {
    const char *name;
    int (*call)(struct call *); /* returns what MPI returned */
    enum form form;
};

/* All functions, ended by one without a name. */
extern const struct function functions[];

/* Data of the first requests, and its sources. */
struct slot {
    bool is_known;
    int bytes, peer;
};
extern struct slot slots[STATUSES_MAX];

/* Writes that something is wrong. */
void wrong(const struct call *call, const char *what, int is);

/* Checks a status that a call has returned for a request. */
void check_status(const struct call *call, const MPI_Status *status, int slot);

/* The type of this name in scripts; MPI_DATATYPE_NULL if there is none. */
MPI_Datatype type_of(const char *word);

/* Makes the objects that the functions need. Call it after MPI_Init. */
void calls_begin(void);
void calls_end(void);

#endif
