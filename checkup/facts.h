/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts that decide how MPI runs: of a process, of its node, of its MPI library. A fact is measured
 * or read, not judged: run_scripts/commcost/checkup/ does that.
 *
 * Facts are lines of a text: name, value, unit and source, with tabs between them. A fact that the
 * system doesn't give is left out.
 *
 * Sources: proc(5), cgroups(7), namespaces(7), sched(7), ptrace(2), packet(7); Linux's
 * Documentation/ABI (sysfs-class-net, sysfs-class-infiniband, sysfs-devices-node,
 * sysfs-devices-system-cpu) and Documentation/admin-guide/LSM/Yama.rst.
 */
#pragma once

#include "common/job/job.h"
#include "common/result/text.h"

/* Appends a fact whose value is printed by `format`. A unit of "" means none. Local. */
void checkup_add_fact(struct bc_text *facts, const char *name, const char *unit, const char *source,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Appends the facts of this process: launcher variables, processors, quota, namespaces, limits,
   /dev/shm, MPI variables and libraries. Calls no MPI function except MPI_Get_library_version, so
   it may be called before MPI_Init. Local. */
void checkup_add_process_facts(struct bc_text *facts);

/* Appends the MPI library's claims to support buffers on GPUs. Call it after MPI_Init. Local. */
void checkup_add_gpu_claims(struct bc_text *facts);

/* Appends the facts of this node: clock source, governor, network interfaces, adapters, GPUs.
   Local. */
void checkup_add_node_facts(struct bc_text *facts);

/* Appends the outcome of reading the memory of the node's next rank (process_vm_readv): "ok",
   "wrong data" (that pid belongs to another process here), or the error. Appends nothing on a node
   with one rank. Collective over job->node_comm. */
void checkup_add_neighbour_facts(struct bc_text *facts, const struct bc_job *job);
