/*
 * Which ranks are on which host, in a text that stays short on many of them:
 *
 *   node1: 0-3; node2: 4-7               few hosts are listed
 *   node[001-256]: 0-1023                hosts of consecutive numbers that have as
 *                                        many ranks each, one after the other
 *   node[1-8]: 0-24/8, each next +1      the ranks of the first, and how much larger
 *                                        those of each next host are
 *
 * Ranks are written as bc_format_ranks does. A host whose ranks go on in no such way
 * is listed by itself.
 */
#ifndef COMMCOST_COMMON_MACHINE_HOSTS_H
#define COMMCOST_COMMON_MACHINE_HOSTS_H

#include <mpi.h>
#include <stddef.h>

/*
 * Writes ascending ranks as ranges with strides: 0,1,2,3,8 becomes "0-3,8" and
 * 0,4,8,12 "0-12/4". Returns the length that the whole text has, of which at
 * most size - 1 characters are written. Local.
 */
size_t bc_format_ranks(const int *ranks, size_t count, char *text, size_t size);

struct bc_host_run;

/* Hosts in an order of the caller's, as runs of hosts that continue each other: it
   takes memory by the number of runs, not of hosts. All zeros is an empty list.
   What has no memory ends the job. */
struct bc_hosts {
    struct bc_host_run *runs;
    size_t count, capacity;
};

/* Appends a host that has these ranks, ascending and at least one. Local. */
void bc_hosts_add(struct bc_hosts *hosts, const char *name, const int *ranks, size_t count);

/* Appends all of `more`. Local. */
void bc_hosts_append(struct bc_hosts *hosts, const struct bc_hosts *more);

/* Brings the lists of all ranks of `comm` together on its rank 0, in the order of
   the ranks; elsewhere the list is empty afterwards. Along a binomial tree:
   log2(P) steps, and no more memory than the whole list takes. Collective. */
void bc_hosts_gather(struct bc_hosts *hosts, MPI_Comm comm);

/* The text. The caller frees it. Local. */
char *bc_hosts_format(const struct bc_hosts *hosts);

/* Local. */
void bc_hosts_free(struct bc_hosts *hosts);

#endif
