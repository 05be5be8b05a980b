/*
 * Facts that decide how MPI runs: of a process, of its node, of its MPI library. A fact is measured
 * or read, never judged: run_scripts/commcost/checkup/ does that.
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

/* Appends a fact; printf makes its value of `format`. A unit of "" is none. Local. */
void checkup_add_fact(struct bc_text *facts, const char *name, const char *unit, const char *source,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Appends the facts of this process: what its launcher states, processors, quota, namespaces,
   limits, /dev/shm, MPI variables and libraries. Calls no MPI function but
   MPI_Get_library_version, so it may be called before MPI_Init. Local. */
void checkup_add_process_facts(struct bc_text *facts);

/* Appends the facts of this node: clock source, governor, network interfaces, adapters. Local. */
void checkup_add_node_facts(struct bc_text *facts);

/* Appends how a read of another process's memory ends (process_vm_readv), for the next rank of the
   node: "ok", "wrong data" (that pid is another process here), or the error. Nothing on a node
   with one rank. Collective over job->node_comm. */
void checkup_add_neighbour_facts(struct bc_text *facts, const struct bc_job *job);
