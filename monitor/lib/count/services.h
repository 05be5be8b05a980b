/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other software services (MPI/RT draft, section 8.3.3): counts of the operating system for the
 * process, and performance variables (MPI_T) of the MPI library. All functions are local.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Services of the operating system come first. */
enum { SERVICES_OF_SYSTEM = 6, SERVICES_MAX = 64 };

struct service {
    char name[64]; /* user_time, system_time, ..., or the name of the performance variable */
    bool is_time;  /* in seconds; else a count */
    double range;  /* the value at which the count starts again from 0; 0: it never does */
    double value;  /* NAN: could not be read */
};

struct services {
    int count;
    struct service service[SERVICES_MAX];
    const char *warning; /* one line: what can't be collected, and why; or NULL */
};

/* Reads all services. MPI must be initialised. Thread-safe. */
void services_read(struct services *services);

/* Subtracts an earlier reading from a later one. NAN for services that the earlier one lacks. */
void services_since(struct services *now, const struct services *before);
