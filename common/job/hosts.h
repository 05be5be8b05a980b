/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts with their ranks, as a text that stays short for many hosts:
 *
 *   node1: 0-3; node2: 4-7               few hosts are listed
 *   node[001-256]: 0-1023                hosts with consecutive numbers and ranks, equal numbers of
 *                                        ranks
 *   node[1-8]: 0-24/8, each next +1      the ranks of the first host, and the step to each next one
 *
 * All functions except bc_hosts_gather are local.
 */
#pragma once

#include <mpi.h>
#include <stddef.h>

/* Writes ascending ranks as ranges with strides: 0,1,2,3,8 becomes "0-3,8", and 0,4,8,12 becomes
   "0-12/4". Returns the length of the whole text, as snprintf does. */
size_t bc_format_ranks(const int *ranks, size_t count, char *text, size_t size);

struct bc_host_run;

/* Hosts in the caller's order, as runs of hosts that continue one pattern: memory grows with the
   number of runs. All zeros is an empty list. If memory runs out, the job ends. */
struct bc_hosts {
    struct bc_host_run *runs;
    size_t count, capacity;
};

/* Appends a host with its ranks, ascending and at least one. */
void bc_hosts_add(struct bc_hosts *hosts, const char *name, const int *ranks, size_t count);

/* Moves the lists of all ranks of `comm` to its rank 0, in rank order, along a binomial tree.
   Collective. */
void bc_hosts_gather(struct bc_hosts *hosts, MPI_Comm comm);

/* Returns the number of different names among `count` names that are `step` bytes apart. */
int bc_different_names(const char *first, size_t step, int count);

/* Returns the text; the caller frees it. */
char *bc_hosts_format(const struct bc_hosts *hosts);

void bc_hosts_free(struct bc_hosts *hosts);
