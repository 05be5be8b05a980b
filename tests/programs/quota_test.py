# SPDX-License-Identifier: BSD-3-Clause
"""A program's warning of a quota that is too small, in real control groups, if this process may make some."""

import os
import re
import subprocess
import unittest

from case import Case, each
from mpi_run import WHOLE, read, read_if_there

PERIOD_US = 100000


class Group:
    """A control group with a quota, below the group of this process. Skips the test if none can be made."""

    def __init__(self, name, processors):
        reasons = []
        for line in read("/proc/self/cgroup").splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            self.file = "cpu.cfs_quota_us" if controllers else "cpu.max"
            for top in ["/cpu", "/" + controllers] if controllers else ["", "/unified"]:
                parent = os.path.normpath(f"/sys/fs/cgroup{top}/{group}")
                if read_if_there(os.path.join(parent, self.file)).split()[:1] not in ([], ["-1"], ["max"]):
                    raise unittest.SkipTest(f"this process is in a group with a quota, {group}")
                self.folder = f"{parent}/commcost_{name}_{os.getpid()}"
                quota = f"{PERIOD_US * processors:.0f}"
                try:
                    os.mkdir(self.folder)
                    with open(os.path.join(self.folder, self.file), "w", encoding="ascii") as stream:
                        stream.write(quota if controllers else f"{quota} {PERIOD_US}")
                    return
                except OSError as error:
                    reasons.append(str(error))
                    self.remove()
        raise unittest.SkipTest("no control group with a quota can be made: " + ("; ".join(reasons) or "no groups"))

    def remove(self):
        if os.path.isdir(self.folder):
            os.rmdir(self.folder)

    def enter(self):
        """Returns the words before a command that runs in the group."""
        return ["sh", "-c", 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"', "sh", self.folder]


class Quota(Case):
    def setUp(self):
        super().setUp()
        self.program = [self.built("halo/halo"), "--local=2", "--methods=isend/irecv packed", "--samples=2",
                        "--warmup=0", *WHOLE]

    def make_group(self, name, processors):
        group = Group(name, processors)
        self.addCleanup(group.remove)
        return group

    def assert_warning(self, words, text, **environment):
        """Fails unless the program warns of its quota with this text; None: not at all."""
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, **environment})
        assert done.returncode == 0, done.stdout + done.stderr
        found = re.findall("(?m)^# warning: oversubscribed: the control group's quota of (.*): use fewer ranks",
                           done.stdout)
        assert found == ([] if text is None else [text]), done.stdout

    @each("processors, text", [(1.5, "1.5 processors ({}) is for 2 ranks"), (2, None)])
    def test_all_ranks_in_one(self, processors, text):
        group = self.make_group("all", processors)
        self.assert_warning(group.enter() + self.launcher.line(2, {}, self.program), text and text.format(group.file))

    @each("processors, text", [(1, None), (0.5, "0.5 processors ({}) is for 1 rank")])
    def test_a_group_for_each_rank(self, processors, text):
        """As with a container for each rank: only a quota of less than one processor is too little."""
        groups = [self.make_group(f"rank{rank}", processors) for rank in range(2)]
        self.assert_warning([*self.launcher.line(1, {}, groups[0].enter() + self.program),
                             ":", "-np", "1", *groups[1].enter(), *self.program], text and text.format(groups[0].file))

    @each("first_inside, nodes", [(False, ""), (True, " (similar on 2 nodes)")])
    def test_on_two_nodes(self, first_inside, nodes):
        """A quota of another node than rank 0's counts, too. MPICH can take its ranks for two nodes'."""
        if self.launcher.is_openmpi:
            self.skipTest("this MPI library has no MPIR_CVAR_NUM_CLIQUES")
        group = self.make_group("node", 0.75)
        inside = group.enter() + self.program
        words = [*self.launcher.line(1, {}, inside if first_inside else self.program), ":", "-np", "1", *inside]
        self.assert_warning(words, f"0.75 processors ({group.file}) is for 1 rank{nodes}", MPIR_CVAR_NUM_CLIQUES="2")
