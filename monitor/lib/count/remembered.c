/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/remembered.h"

#include "monitor/lib/count/handles.h"

enum { REMEMBERED_MAX = 1 << REMEMBERED_BITS };

static struct remembered remembered[REMEMBERED_MAX];
static int end;                                                 /* index after the last one */
static int start;                                               /* only gaps precede it */
static struct handle_map indices = HANDLE_MAP(REMEMBERED_BITS); /* by communicator_key */

int remembered_count(void) { return indices.used; }

static void close_gaps(void)
{
    int count = 0;
    for (int i = 0; i < end; i++)
        if (remembered[i].comm != MPI_COMM_NULL) {
            (void)handle_set(&indices, communicator_key(remembered[i].comm), count);
            remembered[count++] = remembered[i];
        }
    end = count;
    start = 0;
}

void remembered_forget(MPI_Comm comm)
{
    const int index = handle_remove(&indices, communicator_key(comm));
    if (index != HANDLE_UNKNOWN)
        remembered[index].comm = MPI_COMM_NULL;
}

void remembered_add(MPI_Comm comm, const char *maker)
{
    remembered_forget(comm);
    if (end == REMEMBERED_MAX)
        close_gaps();
    if (end < REMEMBERED_MAX && handle_set(&indices, communicator_key(comm), end))
        remembered[end++] = (struct remembered){comm, maker};
}

bool remembered_take(struct remembered *first)
{
    *first = (struct remembered){MPI_COMM_NULL, NULL};
    while (start < end && first->comm == MPI_COMM_NULL)
        *first = remembered[start++];
    if (first->comm != MPI_COMM_NULL)
        remembered_forget(first->comm);
    else
        end = start = 0;
    return first->comm != MPI_COMM_NULL;
}
