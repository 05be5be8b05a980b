# How many ranks this machine has room for: the cores with a processor that this process
# may run on, or the processors' time that control groups' quotas allow, whichever is less;
# at least 1. Prints nothing where the system doesn't tell. common/machine/cores.h and limits.h
# say what the files mean.
#
# usage: COMMCOST_SYSTEM=ROOT awk -f processors.awk   ROOT: "", but for tests, which have
#                                                     made-up files below it

# The first line of a file; "" where there is none.
function first_line(path,    line) {
    if ((getline line <path) <= 0) line = ""
    close(path)
    return line
}

# Where processors are named as 0-3,8: their cores, by their lowest processors.
function count_cores(list,    ranges, count, i, ends, processor, core, of, cores) {
    count = split(list, ranges, ",")
    for (i = 1; i <= count; i++) {
        if (split(ranges[i], ends, "-") < 2) ends[2] = ends[1]
        for (processor = ends[1] + 0; processor <= ends[2] + 0; processor++) {
            core = first_line(system_root "/sys/devices/system/cpu/cpu" processor "/topology/core_cpus_list")
            if (core == "")
                core = first_line(system_root "/sys/devices/system/cpu/cpu" processor "/topology/thread_siblings_list")
            # Offline ones have none.
            if (core !~ /^[0-9]/) continue
            core += 0
            if (!(core in of)) cores++
            of[core] = 1
        }
    }
    return cores + 0
}

# A group's quota counts if it is the least.
function note_quota(quota, period) {
    if (quota ~ /^[0-9]+$/ && period ~ /^[0-9]+$/ && quota > 0 && period > 0 &&
        (least == "" || quota / period < least))
        least = quota / period
}

# Of a group and those above it, where its hierarchy is mounted at `top`.
function note_groups(top, group, version,    words) {
    for (;;) {
        if (version == 2) {
            if (split(first_line(top group "/cpu.max"), words, " ") == 2) note_quota(words[1], words[2])
        } else
            note_quota(first_line(top group "/cpu.cfs_quota_us"), first_line(top group "/cpu.cfs_period_us"))
        if (group !~ /\//) return
        sub(/\/[^\/]*$/, "", group)
    }
}

BEGIN {
    system_root = ENVIRON["COMMCOST_SYSTEM"]
    path = system_root "/proc/self/status"
    while ((getline line <path) > 0)
        if (line ~ /^Cpus_allowed_list:/) {
            sub(/^[^:]*:[ \t]*/, "", line)
            room = count_cores(line)
        }
    path = system_root "/proc/self/cgroup"
    mount = system_root "/sys/fs/cgroup"
    while ((getline line <path) > 0) {
        if (!match(line, /^[^:]*:[^:]*:/)) continue
        group = substr(line, RLENGTH + 1)
        controllers = substr(line, 1, RLENGTH - 1)
        sub(/^[^:]*:/, "", controllers)
        if (controllers == "") {
            note_groups(mount, group, 2)
            note_groups(mount "/unified", group, 2)
        } else if (("," controllers ",") ~ /,cpu,/) {
            note_groups(mount "/cpu", group, 1)
            note_groups(mount "/" controllers, group, 1)
        }
    }
    if (room && least != "" && least < room) room = least < 1 ? 1 : int(least)
    if (room) print room
}
