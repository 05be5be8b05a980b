#!/usr/bin/env python3
"""Quotas of real control groups, where this process may make some: what a benchmark says of
ranks in one group, and in a group each. Takes the group's time away for real."""

import argparse
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import read  # noqa: E402
from run_tests import run_tests  # noqa: E402

OPTIONS = None
PERIOD_US = 100000


class Group:
    """A control group with a quota, below the group that this process is in."""

    def __init__(self, name, processors):
        self.folder = None
        reasons = []
        for line in read("/proc/self/cgroup").splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            places = ([("", "cpu.max"), ("/unified", "cpu.max")] if not controllers
                      else [("/cpu", "cpu.cfs_quota_us"), ("/" + controllers, "cpu.cfs_quota_us")])
            for place, file in places:
                folder = f"/sys/fs/cgroup{place}{group.rstrip('/')}/commcost_{name}_{os.getpid()}"
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
        return ["sh", "-c", 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"', "sh", self.folder]


class Quotas(unittest.TestCase):
    def warnings(self, words, processors, environment=None):
        """Those that name a quota of so many processors; others may be this machine's."""
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False,
                              stdin=subprocess.DEVNULL, env=dict(os.environ, **(environment or {})))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        named = f"the control group's quota of {processors:g} processor"
        return [line for line in done.stdout.splitlines() if line.startswith(f"# warning: oversubscribed: {named}")]

    def program(self):
        return [OPTIONS.program, "--local=2", "--methods=isend/irecv packed", "--samples=2", "--warmup=0"]

    def group(self, name, processors):
        group = Group(name, processors)
        self.addCleanup(group.remove)
        return group

    def test_all_ranks_in_one(self):
        for processors, warned in ((1.5, True), (2, False)):
            group = self.group(f"all_{warned}", processors)
            found = self.warnings(group.enter() + OPTIONS.mpirun + ["-np", "2"] + self.program(), processors)
            self.assertEqual(len(found), warned, found)
            if warned:
                self.assertIn(f" processors ({group.file}) is for 2 ranks;", found[0])

    def test_a_group_for_each_rank(self):
        """As with a container for each rank: only a quota of less than one processor is too little."""
        for processors, warned in ((1, False), (0.5, True)):
            groups = [self.group(f"rank{rank}_{warned}", processors) for rank in range(2)]
            words = [*OPTIONS.mpirun, "-np", "1", *groups[0].enter(), *self.program(),
                     ":", "-np", "1", *groups[1].enter(), *self.program()]
            found = self.warnings(words, processors)
            self.assertEqual(len(found), warned, found)
            if warned:
                self.assertIn(f" processors ({groups[0].file}) is for 1 rank;", found[0])

    def test_on_two_nodes(self):
        """What another node than rank 0's has is said, too. MPICH can take its ranks for two nodes'."""
        version = subprocess.run([*OPTIONS.mpirun, "--version"], capture_output=True, text=True, check=True).stdout
        if "HYDRA" not in version:
            self.skipTest("this MPI library has no MPIR_CVAR_NUM_CLIQUES")
        group = self.group("node", 0.75)
        inside, outside = [*group.enter(), *self.program()], self.program()
        for first, text in ((outside, " is for 1 rank;"), (inside, " is for 1 rank (so or alike on 2 nodes);")):
            words = [*OPTIONS.mpirun, "-np", "1", *first, ":", "-np", "1", *inside]
            found = self.warnings(words, 0.75, {"MPIR_CVAR_NUM_CLIQUES": "2"})
            self.assertEqual(len(found), 1, found)
            self.assertIn(text, found[0])


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="halo")
    parser.add_argument("mpirun", nargs="+")
    OPTIONS = parser.parse_args()
    run_tests()


if __name__ == "__main__":
    main()
