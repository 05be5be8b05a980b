# SPDX-License-Identifier: BSD-3-Clause
"""The number of ranks that fit on this machine (system files: see common/job/cores.h and limits.h)."""

import os
import re
import time

from commcost.system import lines_of


def ranks_with_room():
    """Returns the cores of the processors that this process may use or the quotas of control groups, whichever is less,
    or all processors if the system doesn't tell."""
    cores = count_cores()
    if not cores:
        return os.sysconf("SC_NPROCESSORS_ONLN")
    quota = least_quota()
    return cores if quota is None else max(1, min(cores, int(quota)))


def system_lines(path):
    """Returns the lines of a system file. Tests set COMMCOST_SYSTEM to a folder of substitutes."""
    return lines_of(os.environ.get("COMMCOST_SYSTEM", "") + path)


def first_line(path):
    return next(iter(system_lines(path)), "")


def count_cores():
    """Counts the cores of the processors that this process may use."""
    allowed = next((line.split(":", 1)[1] for line in system_lines("/proc/self/status")
                    if line.startswith("Cpus_allowed_list:")), "")
    cores = set()
    for first, last in re.findall(r"([0-9]+)(?:-([0-9]+))?", allowed):
        for processor in range(int(first), int(last or first) + 1):
            topology = f"/sys/devices/system/cpu/cpu{processor}/topology/"
            # A core is identified by its lowest processor; offline processors have none.
            cores.update(re.findall("^[0-9]+", first_line(topology + "core_cpus_list") or
                                    first_line(topology + "thread_siblings_list")))
    return len(cores)


def least_quota():
    """Returns the least quota, in processors, of a control group and its ancestors, or None without one."""
    mount, quotas = "/sys/fs/cgroup", []
    for line in system_lines("/proc/self/cgroup"):
        _, controllers, group = (line.split(":", 2) + ["", ""])[:3]
        if controllers == "":
            tops, names = (mount, mount + "/unified"), ("cpu.max",)
        else:
            tops, names = (mount + "/cpu", f"{mount}/{controllers}"), ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        if controllers == "" or "cpu" in controllers.split(","):
            quotas += [quota for top in tops for quota in quotas_of(top, group, names)]
    return min(quotas, default=None)


def quotas_of(top, group, names):
    """Returns the quotas of a group and its ancestors, in a hierarchy mounted at `top`. `names` are the files of quota
    and period, or a single file of both."""
    quotas = []
    while True:
        words = " ".join(first_line(f"{top}{group}/{name}") for name in names).split()
        if len(words) == 2 and all(re.fullmatch("[0-9]+", word) and int(word) for word in words):
            quotas.append(int(words[0]) / int(words[1]))
        if "/" not in group:
            return quotas
        group = group.rsplit("/", 1)[0]


def busy_share(before, after):
    """Returns the busy share of processor time between two first lines of /proc/stat, or None if unknown."""
    try:
        spans = [int(new) - int(old) for old, new in zip(before.split()[1:9], after.split()[1:9])]
    except ValueError:
        return None
    idle, whole = sum(spans[3:5]), sum(spans)  # idle, or waiting for a disk
    return 1 - idle / whole if whole > 0 else None


def load(seconds=0.5):
    """Measures the busy share of this machine."""
    before = first_line("/proc/stat")
    time.sleep(seconds)
    return busy_share(before, first_line("/proc/stat"))
