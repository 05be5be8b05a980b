"""Quotas of real control groups, where this process may make some: what a benchmark says of ranks
in one group, and in a group each. Takes the group's time away for real."""

import os
import subprocess
import unittest

from case import Case, each
from mpi_run import WHOLE, read, read_if_there

PERIOD_US = 100000


def has_quota(top, group, file):
    """Whether a group or one above it has one."""
    folders = [top, *(os.path.join(top, *group.strip("/").split("/")[:depth + 1])
                      for depth in range(group.strip("/").count("/") + 1))]
    return any(read_if_there(os.path.join(folder, file)).split()[:1] not in ([], ["-1"], ["max"]) for folder in folders)


class Group:
    """A control group with a quota, below the group that this process is in. Skips the test where
    none can be made."""

    def __init__(self, name, processors):
        self.folder = None
        reasons = []
        for line in read("/proc/self/cgroup").splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            places = ([("", "cpu.max"), ("/unified", "cpu.max")] if not controllers else
                      [("/cpu", "cpu.cfs_quota_us"), ("/" + controllers, "cpu.cfs_quota_us")])
            for place, file in places:
                parent = f"/sys/fs/cgroup{place}{group.rstrip('/')}"
                if has_quota(f"/sys/fs/cgroup{place}", group, file):
                    raise unittest.SkipTest(f"this process is in a group with a quota, {group}")
                folder = f"{parent}/commcost_{name}_{os.getpid()}"
                quota = f"{PERIOD_US * processors:.0f}"
                try:
                    os.mkdir(folder)
                    self.folder, self.file = folder, file
                    with open(os.path.join(folder, file), "w", encoding="ascii") as stream:
                        stream.write(quota if file != "cpu.max" else f"{quota} {PERIOD_US}")
                    return
                except OSError as error:
                    reasons.append(str(error))
                    self.remove()
        raise unittest.SkipTest("no control group with a quota can be made: " + ("; ".join(reasons) or "no groups"))

    def remove(self):
        if self.folder is not None:
            os.rmdir(self.folder)
            self.folder = None

    def enter(self):
        """The words before a command that runs in the group."""
        script = 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"'
        return ["sh", "-c", script, "sh", self.folder]


def warnings(words, processors, **environment):
    """Those that name a quota of so many processors; others may be this machine's."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    named = f"the control group's quota of {processors:g} processor"
    return [line for line in done.stdout.splitlines()
            if line.startswith(f"# warning: oversubscribed: {named}")]


class Quota(Case):
    def make_group(self, name, processors):
        """Makes a group that ends with the test."""
        group = Group(name, processors)
        self.addCleanup(group.remove)
        return group

    def setUp(self):
        super().setUp()
        self.program = [self.built("halo/halo"), "--local=2", "--methods=isend/irecv packed", "--samples=2",
                        "--warmup=0", *WHOLE]

    @each("processors, warned", [(1.5, True), (2, False)])
    def test_all_ranks_in_one(self, processors, warned):
        group = self.make_group("all", processors)
        found = warnings(group.enter() + self.launcher.line(2, {}, self.program), processors)
        assert len(found) == warned, found
        if warned:
            assert f" processors ({group.file}) is for 2 ranks: " in found[0]

    @each("processors, warned", [(1, False), (0.5, True)])
    def test_a_group_for_each_rank(self, processors, warned):
        """As with a container for each rank: only a quota of less than one processor is too little."""
        groups = [self.make_group(f"rank{rank}", processors) for rank in range(2)]
        words = [*self.launcher.line(1, {}, groups[0].enter() + self.program),
                 ":", "-np", "1", *groups[1].enter(), *self.program]
        found = warnings(words, processors)
        assert len(found) == warned, found
        if warned:
            assert f" processors ({groups[0].file}) is for 1 rank: " in found[0]

    @each("first_inside, text", [
        (False, " is for 1 rank: "), (True, " is for 1 rank (similar on 2 nodes): ")])
    def test_on_two_nodes(self, first_inside, text):
        """What another node than rank 0's has is said, too. MPICH can take its ranks for two nodes'."""
        version = subprocess.run([*self.launcher.command, "--version"], capture_output=True, text=True,
                                 check=True).stdout
        if "HYDRA" not in version:
            self.skipTest("this MPI library has no MPIR_CVAR_NUM_CLIQUES")
        group = self.make_group("node", 0.75)
        inside = group.enter() + self.program
        words = [*self.launcher.line(1, {}, inside if first_inside else self.program), ":", "-np", "1", *inside]
        found = warnings(words, 0.75, MPIR_CVAR_NUM_CLIQUES="2")
        assert len(found) == 1, found
        assert text in found[0]
