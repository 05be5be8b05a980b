# SPDX-License-Identifier: BSD-3-Clause
"""integrations/reframe/commcost_check.py with stand-ins for what it takes of ReFrame's: does it load, do its
programs take the options that it gives them, and is each of their quantities a figure of merit?"""

import importlib.util
import json
import os
import sys
import types
import unittest.mock

from case import Case
from mpi_run import run_raw

CHECK = "integrations/reframe/commcost_check.py"


class RunOnlyRegressionTest:
    """ReFrame refuses variables and parameters that have the name of a member."""

    prefix = property(lambda self: "")
    stagedir = property(lambda self: self.folder)
    stdout = property(lambda self: Deferred(self.output))

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
    builtins.run_before = lambda stage: as_is
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
            check = self.module.CommcostCheck()
            check.program, check.folder, check.output = program, str(self.folder), "rfm_job.out"
            check.programs_folder = self.build
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
