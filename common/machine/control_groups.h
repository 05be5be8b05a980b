/*
 * The control groups that a process is in, by whose limits containers and batch jobs
 * bound what it may take. Reads Linux's files; all local.
 *
 * Source: Linux's Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/cgroups.rst, and
 * cgroups(7) for /proc/self/cgroup. Groups above the top of a container's view are not
 * seen from inside.
 */
#ifndef COMMCOST_COMMON_MACHINE_CONTROL_GROUPS_H
#define COMMCOST_COMMON_MACHINE_CONTROL_GROUPS_H

/* Where Linux says what groups a process is in, and where it shows them. */
#define BC_GROUPS_OF_PROCESS "/proc/self/cgroup"
#define BC_GROUPS_MOUNT "/sys/fs/cgroup"

/* Looks at one group: `folder` has its files, of that version of control groups, 1 or 2.
   The folder may not exist. */
typedef void bc_group_fn(const char *folder, int version, void *context);

/* Calls `look` for each group that limits what a controller ("memory", "cpu") controls: those
   that the file `membership` names, as /proc/self/cgroup does, and all above them, from the
   innermost outwards, where the hierarchies are mounted as below /sys/fs/cgroup. */
void bc_groups_visit(const char *membership, const char *mount, const char *controller,
                     bc_group_fn *look, void *context);

#endif
