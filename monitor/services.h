/*
 * Other software services (section 8.3.3): what lies under MPI, as the operating system counts it for the whole
 * process, and as the MPI library counts it in performance variables of its tools interface (MPI_T). All functions are
 * local.
 */
#ifndef MONITOR_SERVICES_H
#define MONITOR_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

enum { SERVICES_MAX = 64 };

/* One service's reading: seconds or a count. */
struct service {
    char name[64]; /* user_time, system_time, voluntary_switches, ..., or the performance variable's */
    bool is_time;
    double value;
};

struct services {
    int count;
    struct service service[SERVICES_MAX];
    const char *warning; /* one line: what can't be collected, and why; or NULL */
};

/* Reads them all. `services_since` turns a later reading into what came since an earlier one of the same variables. */
void services_read(struct services *services);
void services_since(struct services *now, const struct services *before);

#endif
