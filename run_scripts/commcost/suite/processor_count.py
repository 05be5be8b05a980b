"""How many ranks this machine has room for. common/job/cores.h and limits.h say what the files mean."""

import os
import re
import time

from commcost.system import lines_of


def ranks_with_room():
    """The cores with a processor that this process may run on, not hardware threads of the same
    core, or the processors' time that control groups' quotas allow, whichever is less; where the
    system doesn't tell, its processors."""
    cores = count_cores()
    if not cores:
        return os.sysconf("SC_NPROCESSORS_ONLN")
    quota = least_quota()
    return cores if quota is None else max(1, min(cores, int(quota)))


def system_lines(path):
    """The lines of a file of the system; tests have made-up ones."""
    return lines_of(os.environ.get("COMMCOST_SYSTEM", "") + path)


def first_line(path):
    return next(iter(system_lines(path)), "")


def count_cores():
    """The cores of the processors that this process may use."""
    allowed = next((line.split(":", 1)[1] for line in system_lines("/proc/self/status")
                    if line.startswith("Cpus_allowed_list:")), "")
    cores = set()
    for first, last in re.findall(r"([0-9]+)(?:-([0-9]+))?", allowed):
        for processor in range(int(first), int(last or first) + 1):
            topology = f"/sys/devices/system/cpu/cpu{processor}/topology/"
            # A core is called by its lowest processor; offline ones have none.
            cores.update(re.findall("^[0-9]+", first_line(topology + "core_cpus_list") or
                                    first_line(topology + "thread_siblings_list")))
    return len(cores)


def least_quota():
    """The least number of processors whose time a control group, or one above it, has; None without one."""
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
    """The quotas of a group and of those above it, where their hierarchy is mounted at top. Quota and period are in
    these files, or in one."""
    quotas = []
    while True:
        words = " ".join(first_line(f"{top}{group}/{name}") for name in names).split()
        if len(words) == 2 and all(re.fullmatch("[0-9]+", word) and int(word) for word in words):
            quotas.append(int(words[0]) / int(words[1]))
        if "/" not in group:
            return quotas
        group = group.rsplit("/", 1)[0]


def busy_share(before, after):
    """The share of the processors' time in which they worked, between two first lines of /proc/stat; None where these
    don't tell."""
    try:
        spans = [int(new) - int(old) for old, new in zip(before.split()[1:9], after.split()[1:9])]
    except ValueError:
        return None
    idle, whole = sum(spans[3:5]), sum(spans)  # idle, and waiting for a disk
    return 1 - idle / whole if whole > 0 else None


def load(seconds=0.5):
    """The busy_share of this machine during the next seconds."""
    before = first_line("/proc/stat")
    time.sleep(seconds)
    return busy_share(before, first_line("/proc/stat"))
