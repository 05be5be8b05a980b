/*
 * The control groups of a process, by whose limits containers and batch jobs bound what it may
 * take. Reads Linux's files; all functions are local.
 *
 * Source: Linux's Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/cgroups.rst, and cgroups(7)
 * for /proc/self/cgroup. Groups above the top of a container's view can't be seen from inside.
 */
#ifndef COMMCOST_COMMON_MACHINE_CONTROL_GROUPS_H
#define COMMCOST_COMMON_MACHINE_CONTROL_GROUPS_H

/* Where Linux lists the groups of a process, and where the hierarchies of groups are mounted. */
#define BC_GROUPS_OF_PROCESS "/proc/self/cgroup"
#define BC_GROUPS_MOUNT "/sys/fs/cgroup"

/* Looks at one group, whose files lie in `folder`, if that exists; `version` of control groups is
   1 or 2. */
typedef void bc_group_fn(const char *folder, int version, void *context);

/* Calls `look` for each group that limits what `controller` ("memory", "cpu") controls: the groups
   that the file `membership` names (as /proc/self/cgroup) and all groups above them, from the
   innermost outwards. `mount` is where the hierarchies are mounted (as /sys/fs/cgroup). */
void bc_groups_visit(const char *membership, const char *mount, const char *controller,
                     bc_group_fn *look, void *context);

#endif
