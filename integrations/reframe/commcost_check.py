"""The programs of commcost as a ReFrame check (4.0 and newer), with each quantity as a figure of merit.

    reframe -C SETTINGS -c commcost_check.py -r -S programs_folder=/opt/commcost/libexec/commcost \
        -S num_nodes=4 -S ranks_per_node=1

programs_folder is a build folder (build/) or its installation (PREFIX/libexec/commcost). Set ranks_per_node to the
processors of a node, since noise should run on all of them.

A figure of merit has the name that --format=metrics gives it (pingpong/arrangement.single/.../latency), so you can
write references for those that matter. Names that contain hosts (nodes of linkmap, hosts of noise) are valid for one
allocation, those of noise's sources for one launch:

    reference = {"cluster:partition": {"pingpong/.../latency": (0.6, None, 0.1, "us")}}

Tested with five of the programs under ReFrame 4.11 (development version of July 2026), on one machine with mpirun, not
on a cluster.
"""

import os
import re

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_before, sanity_function, variable

METRIC = r"^([^#\s=][^\s=]*)=(\S+) (\S+) (\S+) (\S+)$"

PROGRAMS = {"overlap_iallreduce": ["--data-driven"], "overlap_halo": [], "mpi_overhead": ["--both"],
            "msgrate": ["--cache=llc"], "pingpong": ["--patterns=put,MPISend"], "syncbench": [], "halo": [],
            "linkmap": [], "noise": [],
            "collective": ["--sizes=8,64K"]}


@rfm.simple_test
class CommcostCheck(rfm.RunOnlyRegressionTest):
    """One program; all quantities that it prints."""

    program = parameter(list(PROGRAMS))
    programs_folder = variable(str, value="build")
    num_nodes = variable(int, value=2)
    ranks_per_node = variable(int, value=1)
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    time_limit = "10m"

    @run_before("run")
    def set_command(self):
        self.num_tasks_per_node = self.ranks_per_node
        self.num_tasks = self.num_nodes * self.num_tasks_per_node
        folder = "overlap" if self.program.startswith("overlap_") else self.program
        self.executable = os.path.join(self.programs_folder, folder, self.program)
        self.executable_opts = [*PROGRAMS[self.program], "--format=metrics"]
        if self.program == "msgrate":
            self.executable_opts.append(f"--peers={min(6, self.num_tasks - 1)}")

    @sanity_function
    def is_complete(self):
        return sn.assert_found(r"^# end: \d+ rows?, exit 0$", self.stdout)

    @run_before("performance")
    def set_quantities(self):
        path = os.path.join(self.stagedir, self.stdout.evaluate())
        with open(path, encoding="utf-8") as stream:
            found = re.findall(METRIC, stream.read(), re.MULTILINE)
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(float(value)), unit) for name, value, unit, _, _ in found}
