/*
 * Other software services (section 8.3.3): what lies under MPI, as the operating system counts it
 * for the whole process, and as the MPI library counts it in performance variables of its tools
 * interface (MPI_T). All functions are local.
 */
#ifndef MONITOR_SERVICES_H
#define MONITOR_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

/* The operating system's come first. */
enum { SERVICES_OF_SYSTEM = 6, SERVICES_MAX = 64 };

/* One service's reading: seconds or a count. */
struct service {
    char name[64]; /* user_time, system_time, voluntary_switches, ..., or the performance variable's
                    */
    bool is_time;
    double range; /* a count that starts again from 0 at this value; 0: none does */
    double value; /* NAN: could not be read */
};

struct services {
    int count;
    struct service service[SERVICES_MAX];
    const char *warning; /* one line: what can't be collected, and why; or NULL */
};

/* Reads them all. The library's variables are found at the first reading, so MPI must be
   initialised. Any thread may, at any time. */
void services_read(struct services *services);

/* Turns a later reading into what came since an earlier one. NAN for what the earlier one did not
 * have. */
void services_since(struct services *now, const struct services *before);

#endif
