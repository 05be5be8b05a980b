# SPDX-License-Identifier: BSD-3-Clause
"""run_suite.sh --vary: alternating settings, with programs that pretend. Which of them is best:
tests/virtual/settings_test.py."""

import os
import shlex

from case import call, each
from commcost.suite.suite_plan import settings_of
from mpi_run import read
from pretended_suite import SCRIPTS
from suite_test import SuiteCase


class Plan(SuiteCase):
    """With programs that pretend."""

    def test_turns(self):
        plan = self.suite.plan("--runs=2", "--benchmarks=halo,pingpong", "--vary=A=1,2", "--vary=B=x,y",
                               launcher="mpirun")
        names = [f"{name}@{place}" for name in ("pingpong", "halo") for place in (1, 2, 3, 4)]
        assert [line[:2] for line in plan] == [[run, name] for run in "12" for name in names]
        assert [line[2].split(" mpirun ")[0] for line in plan[:4]] == [
            f"env {those} 'COMMCOST_VARIABLES=A= B='" for those in ("A=1 B=x", "A=1 B=y", "A=2 B=x", "A=2 B=y")]

    def test_unset(self):
        """An empty value: without the variable, which Open MPI's launcher can't export then."""
        plan = self.suite.plan("--runs=1", "--benchmarks=halo", "--vary=A=,1", "--vary=B=x;;y,z", launcher="orterun")
        words = [shlex.split(line[2]) for line in plan]
        names = "COMMCOST_VARIABLES"
        assert [words[:words.index("orterun")] for words in words] == [
            ["env", *those.split(), names + "=A= B="] for those in (
                "-u A B=x", "-u A -u B", "-u A B=y,z", "A=1 B=x", "-u B A=1", "A=1 B=y,z")], words
        assert [[name for option, name in zip(words, words[1:]) if option == "-x"] for words in words] == [
            [*those, names] for those in ("B", "", "B", "AB", "A", "AB")], words
        # Asynchronous progress that isn't set needs no core of its own.
        assert all("--bind-to core" in line[2] for line in self.suite.plan(
            "--runs=1", "--benchmarks=halo", "--ranks=2", "--vary=MPICH_ASYNC_PROGRESS=,0", launcher="orterun"))
        self.suite.run("--runs=1", "--benchmarks=halo", "--vary=A=,1")
        assert [row["setting"] for row in self.suite.merged("halo")] == ["A unset"] * 3 + ["A=1"] * 3
        assert read(self.suite.of_suite("settings")) == "halo@1\tA unset\nhalo@2\tA=1\n"

    def test_results(self):
        self.suite.run("--runs=2", "--benchmarks=halo", "--vary=A=1,2")
        rows = self.suite.merged("halo")
        assert [(row["run"], row["setting"], row["key"]) for row in rows] == [
            (run, f"A={value}", key) for run in "12" for value in "12" for key in "123"]
        assert "# columns: run=key setting=key key=key" in read(self.suite.results / "halo.tsv")
        before = self.suite.files()
        self.suite.run("--runs=3", "--benchmarks=halo", "--vary=A=1,2")
        self.suite.assert_kept(before)
        assert "another plan" in self.suite.run("--runs=3", "--benchmarks=halo", "--vary=A=1,3",
                                                status=1).stderr
        # Varied variables aren't taken from a folder: a variable may name a program.
        done = self.suite.run(f"--resume={self.suite.results}", "--runs=4", status=2)
        assert "--vary=A=1,2 is not taken from a results folder: give it again" in done.stderr
        self.suite.run(f"--resume={self.suite.results}", "--runs=4", "--vary=A=1,2")
        self.suite.assert_kept(before)

    @each("launcher, site, error", [
        ("srun", "NONE", ""), ("srun --export=NONE", "ALL", "halo@1: its ranks had A unset, not 1: the launcher "),
        ("srun --export=NONE", "NONE", "halo@1: its ranks had A unset, not 1: the launcher ")])
    def test_variables_reach_the_ranks(self, launcher, site, error):
        """A launch whose ranks don't have its setting is no launch of it."""
        self.suite.environment["SLURM_EXPORT_ENV"] = site
        done = self.suite.run("--runs=1", "--benchmarks=halo", "--vary=A=1,2", launcher=launcher, status=int(error != ""))
        assert error in done.stderr, done.stderr
        assert self.suite.of_suite("complete").exists() == (error == "")
        assert (self.suite.results / "halo.tsv").exists() == (error == "")

    def test_killed_before_launches_were_put_together(self):
        """Then nothing tells the setting of a launch: they are no launches of one row."""
        self.suite.run("--runs=1", "--benchmarks=halo", "--vary=A=1,2")
        os.remove(self.suite.results / "halo.tsv")
        os.remove(self.suite.results / "summary.tsv")
        done = call(["sh", os.path.join(SCRIPTS, "summarize.sh"), self.suite.results])
        assert (done.returncode, done.stdout) == (2, ""), done.stderr

    def test_builds_and_launchers(self):
        other = self.suite.folder / "other build"
        other.symlink_to(self.suite.build)
        plan = self.suite.plan("--runs=1", "--benchmarks=halo", f"--vary=build:{self.suite.build},{other}",
                               "--vary=launcher:mpirun,srun --mpi=pmi2")
        assert [line[2].split()[0] for line in plan] == ["mpirun", "srun"] * 2
        assert "no folder '/no/such'" in self.suite.run(f"--vary=build:{self.suite.build},/no/such",
                                                        status=2).stderr
        assert ["other build" in line[2] for line in plan] == [False, False, True, True]
        assert [setting.name for setting in settings_of([f"build:{self.suite.build},{other}"])] == [
            "build=build", "build=other build"]
        # A variable may have a folder's path as its value.
        names = [setting.name for setting in settings_of([f"build:{self.suite.build},{other}", f"A={other},1"])]
        assert names == [f"{build} A={value}" for build in ("build=build", "build=other build") for value in (other, 1)]

    def test_one_binding(self):
        """With asynchronous progress none, in all settings."""
        for value, bound in (("MPICH_ASYNC_PROGRESS=0,1", False), ("MPICH_OTHER=0,1", True)):
            plan = self.suite.plan("--runs=1", "--benchmarks=halo", "--ranks=2", f"--vary={value}",
                                   launcher="mpirun")
            assert ["-bind-to core" in line[2] for line in plan] == [bound] * 2

    @each("value", ["A", "A=1", "A=1,1", "A=,", "A=1,,", "1A=1,2", "build:x", "build:,x", "launcher:srun,", "other:a,b"])
    def test_usage(self, value):
        done = self.suite.run(f"--vary={value}", status=2)
        assert "--vary" in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_twice(self):
        assert "twice" in self.suite.run("--vary=A=1,2", "--vary=A=3,4", status=2).stderr
