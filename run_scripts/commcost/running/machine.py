"""How many ranks this machine has room for. common/machine/cores.h and limits.h say what the files
mean."""

import os
import re

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


def system(path):
    """A file of the system; tests have made-up ones."""
    return os.environ.get("COMMCOST_SYSTEM", "") + path


def first_line(path):
    return next(iter(lines_of(path)), "")


def count_cores():
    """The cores of the processors that this process may use."""
    allowed = next((line.split(":", 1)[1] for line in lines_of(system("/proc/self/status"))
                    if line.startswith("Cpus_allowed_list:")), "")
    cores = set()
    for first, last in re.findall(r"([0-9]+)(?:-([0-9]+))?", allowed):
        for processor in range(int(first), int(last or first) + 1):
            topology = system(f"/sys/devices/system/cpu/cpu{processor}/topology/")
            core = (first_line(topology + "core_cpus_list") or
                    first_line(topology + "thread_siblings_list"))
            # A core is called by its lowest processor; offline ones have none.
            cores.update(re.findall("^[0-9]+", core))
    return len(cores)


def least_quota():
    """The least number of processors whose time a control group, or one above it, has; None
    without one."""
    mount = system("/sys/fs/cgroup")
    quotas = []
    for line in lines_of(system("/proc/self/cgroup")):
        _, controllers, group = (line.split(":", 2) + ["", ""])[:3]
        if controllers == "":
            quotas += [quota for top in (mount, mount + "/unified")
                       for quota in quotas_of(top, group, second_version=True)]
        elif "cpu" in controllers.split(","):
            quotas += [quota for top in (mount + "/cpu", f"{mount}/{controllers}")
                       for quota in quotas_of(top, group, second_version=False)]
    return min(quotas, default=None)


def quotas_of(top, group, second_version):
    """The quotas of a group and of those above it, where their hierarchy is mounted at top."""
    quotas = []
    while True:
        if second_version:
            words = first_line(f"{top}{group}/cpu.max").split()
        else:
            words = [first_line(f"{top}{group}/cpu.cfs_{name}_us") for name in ("quota", "period")]
        if len(words) == 2 and all(re.fullmatch("[0-9]+", word) and int(word) for word in words):
            quotas.append(int(words[0]) / int(words[1]))
        if "/" not in group:
            return quotas
        group = group.rsplit("/", 1)[0]
