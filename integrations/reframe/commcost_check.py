# SPDX-License-Identifier: BSD-3-Clause
"""The programs of commcost as a ReFrame check (4.0 and newer), with each quantity as a figure of merit.

    reframe -C SETTINGS -c commcost_check.py -r -S programs_folder=/opt/commcost/libexec/commcost \
        -S num_nodes=4 -S ranks_per_node=1 -S reference_summary=/opt/commcost/results/summary.tsv

A figure of merit is named after program, keys and column of its row (pingpong/arrangement.single/.../latency_us).
Its reference is the interval of the same quantity over the launches in reference_summary, or can be written by hand:

    reference = {"cluster:partition": {"pingpong/.../latency_us": (0.6, None, 0.1, "us")}}

Names that contain hosts (nodes of linkmap, hosts of noise) are valid for one allocation, names of noise's sources for
one launch.
"""

import csv
import json
import os
import re

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, run_before, sanity_function, variable

UNITS = {"_per_s": "1/s", "_us": "us", "_ns": "ns", "_ms": "ms", "_s": "s", "_pct": "%", "(%)": "%", "_mbs": "MB/s",
         "_bytes": "B", "overhead": "us"}

PROGRAMS = {"overlap_iallreduce": ["--data-driven"], "overlap_halo": [], "mpi_overhead": ["--both"],
            "msgrate": ["--cache=llc"], "pingpong": ["--patterns=put,MPISend"], "syncbench": [], "halo": [],
            "linkmap": [], "noise": [],
            "collective": ["--sizes=8,64K"]}


class commcost_benchmark(rfm.RunOnlyRegressionTest):
    """Base class: one program, and all quantities that it prints. num_tasks is set by the derived class."""

    #: The program.
    program = parameter(list(PROGRAMS))

    #: A build folder (build/) or its installation (PREFIX/libexec/commcost).
    programs_folder = variable(str, value="build")

    #: summary.tsv of a folder of run_suite.sh (--runs=6 or more), or empty for no references.
    reference_summary = variable(str, value="")

    #: Percentage by which a figure may be worse than the worse end of its reference interval.
    tolerance = variable(float, value=10.0)

    time_limit = "10m"

    @run_before("run")
    def set_command(self):
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
        if self.is_dry_run():
            return
        path = os.path.join(self.stagedir, self.stdout.evaluate())
        with open(path, encoding="utf-8") as stream:
            figures = figures_of([json.loads(line) for line in stream if line.startswith("{")])
        self.perf_variables = {name: sn.make_performance_function(sn.defer(value), unit)
                               for name, (value, unit, _) in figures.items()}
        if self.reference_summary:
            intervals = intervals_of(self.reference_summary)
            self.reference = {"*": {name: reference_of(*intervals[parts_of(name)], role, unit, self.tolerance / 100)
                                    for name, (_, unit, role) in figures.items() if parts_of(name) in intervals}}


@rfm.simple_test
class commcost_run(commcost_benchmark):
    """Run-only test of an installation or a build folder."""

    #: The number of nodes.
    num_nodes = variable(int, value=2)

    #: Ranks per node: all processors, if noise is to measure each of them.
    ranks_per_node = variable(int, value=1)

    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    @run_after("init")
    def set_tasks(self):
        self.num_tasks_per_node = self.ranks_per_node
        self.num_tasks = self.num_nodes * self.num_tasks_per_node


def figures_of(objects):
    """Returns value, unit and role (less or more is better) of each result, by name, except rows with wrong data."""
    roles = next(one["metadata"]["columns"] for one in objects if "metadata" in one)
    program = next(one["metadata"]["benchmark"] for one in objects if "metadata" in one)
    found = {}
    for row in objects:
        if len(row) == 1 or row.get("status") == "FAIL":
            continue
        keys = [(name, row[name]) for name, role in roles.items() if role == "key" and row[name] is not None]
        for name, role in roles.items():
            if role in ("less", "more") and row[name] is not None:
                unit = next((UNITS[end] for end in UNITS if name.endswith(end)), "1")
                found[figure_name(program, keys, name)] = (row[name], unit, role)
    return found


def figure_name(program, keys, quantity):
    words = [program, *(f"{name}.{value}" for name, value in keys), quantity]
    return "/".join(re.sub(r"[\s=:/]", "_", word) for word in words)


def parts_of(name):
    """Returns the words of a figure's name. A summary has the keys in another order."""
    return frozenset(name.split("/"))


def intervals_of(path):
    """Returns median, lower and upper end of each quantity of a summary.tsv with an interval, by parts_of its name."""
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    found = {}
    for row in rows:
        columns = list(row)
        keys = [(name, row[name]) for name in columns[1:columns.index("quantity")] if row[name] not in ("", "NA")]
        if row["lo"] != "NA" and float(row["median"]) > 0:
            name = figure_name(row["benchmark"], keys, row["quantity"])
            found[parts_of(name)] = (float(row["median"]), float(row["lo"]), float(row["hi"]))
    return found


def reference_of(median, lower, upper, role, unit, tolerance):
    """Returns ReFrame's reference: the median, and the worse end of the interval relative to it, or None if it is
    negative, which ReFrame refuses."""
    if role == "less":
        return (median, None, upper * (1 + tolerance) / median - 1, unit)
    worst = min(lower, lower * (1 - tolerance))
    return (median, worst / median - 1 if worst >= 0 else None, None, unit)
