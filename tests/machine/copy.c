/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of the check-up's copies of 1 MiB, beside a bare loop of memcpy. */
#include "checkup/checkup.h"
#include "common/clock/clock.h"
#include "common/memory/allocate.h"
#include "tests/machine/in_process.h"

#include <stdlib.h>
#include <string.h>

enum { COPIES = 4, TURNS = 40, BYTES = 1 << 20 };

static double ours_ns(void *context) { return (double)checkup_time_copies(context, COPIES); }

static double bare_ns(void *context)
{
    const struct checkup_kernel *const kernel = context;
    const int64_t start_ns = bc_now_ns();
    for (int i = 0; i < COPIES; i++) {
        memcpy(kernel->receive, kernel->send, BYTES);
        __asm__ volatile("" : : "r"(kernel->receive) : "memory");
    }
    return (double)(bc_now_ns() - start_ns);
}

void copy_pairs(void)
{
    struct checkup_kernel kernel = {.bytes = BYTES,
                                    .send = bc_allocate_pages(BYTES, "no memory for copies"),
                                    .receive = bc_allocate_pages(BYTES, "no memory for copies")};
    in_process_pair("copies of 1 MiB", ours_ns, bare_ns, &kernel, TURNS);
    free(kernel.send);
    free(kernel.receive);
}
