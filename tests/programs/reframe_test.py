# SPDX-License-Identifier: BSD-3-Clause
"""integrations/reframe/commcost_check.py with stand-ins for what it takes of ReFrame's: does it load, do its
programs take the options that it gives them, and is each of their quantities a figure of merit?"""

import importlib.util
import json
import os
import re
import sys
import types
import unittest.mock

from case import Case
from commcost.result.summary_table import summarize
from mpi_run import run_raw

CHECK = "integrations/reframe/commcost_check.py"


class RunOnlyRegressionTest:
    """ReFrame refuses variables and parameters that have the name of a member."""

    dry_run = False
    prefix = property(lambda self: "")
    stagedir = property(lambda self: self.folder)
    stdout = property(lambda self: Deferred(self.output))

    def is_dry_run(self):
        return self.dry_run

    def __init_subclass__(cls):
        taken = [name for name, value in vars(cls).items()
                 if isinstance(value, Declared) and hasattr(RunOnlyRegressionTest, name)]
        assert not taken, f"{taken} already defined in one of base classes"
        for name, value in list(vars(cls).items()):
            if isinstance(value, Declared):
                setattr(cls, name, value.default)


class Declared:
    def __init__(self, default):
        self.default = default


class Deferred:
    def __init__(self, value):
        self.value = value

    def evaluate(self):
        return self.value


def stand_ins():
    """The modules of ReFrame's that the check imports."""
    def as_is(made):
        return made

    core = types.ModuleType("reframe.core")
    builtins = types.ModuleType("reframe.core.builtins")
    builtins.parameter = Declared
    builtins.variable = lambda kind, value: Declared(value)
    builtins.run_after = builtins.run_before = lambda stage: as_is
    builtins.sanity_function = as_is
    utility = types.ModuleType("reframe.utility")
    sanity = types.ModuleType("reframe.utility.sanity")
    sanity.defer = Deferred
    sanity.make_performance_function = lambda value, unit: (value.evaluate(), unit)
    utility.sanity = sanity
    reframe = types.ModuleType("reframe")
    reframe.simple_test = as_is
    reframe.RunOnlyRegressionTest = RunOnlyRegressionTest
    reframe.utility, reframe.core = utility, core
    return {made.__name__: made for made in (reframe, core, builtins, utility, sanity)}


class Reframe(Case):
    def setUp(self):
        super().setUp()
        modules = unittest.mock.patch.dict(sys.modules, stand_ins())
        modules.start()
        self.addCleanup(modules.stop)
        spec = importlib.util.spec_from_file_location("commcost_check", os.path.join(self.source, CHECK))
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def test_each_program(self):
        """With the two nodes of the check's default, and few samples."""
        for program in self.module.PROGRAMS:
            check = self.module.commcost_run()
            check.program, check.folder, check.output = program, str(self.folder), "rfm_job.out"
            check.programs_folder = self.build
            check.set_tasks()
            check.set_command()
            assert check.num_tasks == 2
            done = run_raw(self.launcher, check.num_tasks, [check.executable, *check.executable_opts,
                                                            "--max-time=0.01", "--visits=1"], {})
            assert done.returncode == 0, done.stdout + done.stderr
            (self.folder / check.output).write_text(done.stdout)
            check.set_quantities()
            objects = [json.loads(line) for line in done.stdout.splitlines()]
            roles = objects[0]["metadata"]["columns"]
            values = [row[name] for row in objects if len(row) > 1 for name, role in roles.items()
                      if role in ("less", "more") and row[name] is not None]
            assert [value for value, _ in check.perf_variables.values()] == values != []
            assert {unit for _, unit in check.perf_variables.values()} <= {"us", "ns", "%", "MB/s", "1/s"}

    def test_references(self):
        """Each figure has a reference from the summary of six launches, here copies of one with other dates."""
        halo = os.path.join(self.build, "halo", "halo")
        options = ["--local=8", "--max-time=0.01", "--visits=1"]
        first = self.folder / "halo.1.tsv"
        for more in (f"--output={first}", "--format=json"):
            done = run_raw(self.launcher, 2, [halo, *options, more], {})
            assert done.returncode == 0, done.stdout + done.stderr
        for launch in range(2, 7):
            other = re.sub("(?m)^# date: 20", f"# date: 1{launch}", first.read_text())
            (self.folder / f"halo.{launch}.tsv").write_text(other)
        text, _ = summarize([str(path) for path in sorted(self.folder.glob("halo.*.tsv"))])
        (self.folder / "summary.tsv").write_text(text)
        check = self.module.commcost_run()
        check.folder, check.output = str(self.folder), "rfm_job.out"
        check.reference_summary = self.folder / "summary.tsv"
        (self.folder / check.output).write_text(done.stdout)
        check.set_quantities()
        assert set(check.reference["*"]) == set(check.perf_variables) != set()
        assert {round(above, 6) for _, _, above, _ in check.reference["*"].values()} == {0.1}

    def test_reference_of(self):
        assert self.module.reference_of(10, 8, 12, "less", "us", 0.5) == (10, None, 0.8, "us")
        assert self.module.reference_of(10, 8, 12, "more", "1/s", 0.5) == (10, -0.6, None, "1/s")
        assert self.module.reference_of(1, -2, 3, "more", "us", 0.5) == (1, None, None, "us")

    def test_dry_run(self):
        check = self.module.commcost_run()
        check.dry_run, check.folder, check.output = True, str(self.folder), "missing"
        check.set_quantities()
