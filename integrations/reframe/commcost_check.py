# SPDX-License-Identifier: BSD-3-Clause
"""The programs of commcost as a ReFrame check (4.0 and newer), with each quantity as a figure of merit.

    reframe -C SETTINGS -c commcost_check.py -r -S programs_folder=/opt/commcost/libexec/commcost \
        -S num_nodes=4 -S ranks_per_node=1

programs_folder is a build folder (build/) or its installation (PREFIX/libexec/commcost). Set ranks_per_node to the
processors of a node, since noise should run on all of them.

A figure of merit has the program, the row's keys and the column in its name (pingpong/arrangement.single/.../latency_us),
so you can write references for those that matter. Names that contain hosts (nodes of linkmap, hosts of noise) are valid for one
allocation, those of noise's sources for one launch:

    reference = {"cluster:partition": {"pingpong/.../latency_us": (0.6, None, 0.1, "us")}}

Tested with five of the programs under ReFrame 4.11 (development version of July 2026), on one machine with mpirun, not
on a cluster.
"""

import json
import os
import re

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_before, sanity_function, variable

UNITS = {"_per_s": "1/s", "_us": "us", "_ns": "ns", "_ms": "ms", "_s": "s", "_pct": "%", "(%)": "%", "_mbs": "MB/s",
         "_bytes": "B", "overhead": "us"}

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
        self.executable_opts = [*PROGRAMS[self.program], "--format=json"]
        if self.program == "msgrate":
            self.executable_opts.append(f"--peers={min(6, self.num_tasks - 1)}")

    @sanity_function
    def is_complete(self):
        return sn.assert_found(r'^{"end": {"rows": \d+, "exit": 0}}$', self.stdout)

    @run_before("performance")
    def set_quantities(self):
        path = os.path.join(self.stagedir, self.stdout.evaluate())
        with open(path, encoding="utf-8") as stream:
            figures = figures_of([json.loads(line) for line in stream if line.startswith("{")])
        self.perf_variables = {name: sn.make_performance_function(sn.defer(value), unit)
                               for name, (value, unit) in figures.items()}


def figures_of(objects):
    """Returns value and unit of each quantity that less or more is better of, by name, in rows with right data."""
    roles = next(one["metadata"]["columns"] for one in objects if "metadata" in one)
    program = next(one["metadata"]["benchmark"] for one in objects if "metadata" in one)
    found = {}
    for row in objects:
        if len(row) == 1 or row.get("status") == "FAIL":
            continue
        keys = [f"{name}.{row[name]}" for name, role in roles.items() if role == "key" and row[name] is not None]
        for name, role in roles.items():
            if role in ("less", "more") and row[name] is not None:
                unit = next((UNITS[end] for end in UNITS if name.endswith(end)), "1")
                path = [re.sub(r"[\s=:/]", "_", word) for word in (program, *keys, name)]
                found["/".join(path)] = (row[name], unit)
    return found
