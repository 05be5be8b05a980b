# SPDX-License-Identifier: BSD-3-Clause
"""Conditions of launches: other programs' load, and the check-up's facts, which go into the metadata of results."""

import os

from commcost.result import checkup_facts
from commcost.result.result_metadata import FACT
from commcost.result.result_reader import ResultError
from commcost.suite import launch_processes, launchers, processor_count
from commcost.system import remove

PROGRAM = os.path.join("checkup", "checkup")
LOAD = 0.1  # share of processor time above which quickstart warns of other programs
LIMIT_S = 30
SHORT = ("--visits=1", "--max-time=0.01")  # the measurements are not used


def is_busy():
    """True if other programs use this machine's processors."""
    return (processor_count.load() or 0) > LOAD


def read_facts(folder, build, launcher, job, signals):
    """Starts `checkup` in a job, before the launches of a suite. Returns lines of metadata, or none without the program
    or a complete result. Its output goes to the suite's folder."""
    program, result, log = os.path.join(build, PROGRAM), folder.suite_file("facts.tsv"), folder.suite_file("facts.log")
    if not os.access(program, os.X_OK):
        return []
    words = [*launcher.line(job, launchers.Launch(job.ranks, 1, {})), program, *SHORT, f"--output={result}"]
    remove(result)
    launch_processes.await_end(launch_processes.begin(words, log), LIMIT_S, signals)
    try:
        facts = checkup_facts.facts_of_result(result)
    except ResultError:
        return []
    return [f"# {FACT}{name}: {value}" for name, value in checkup_facts.shared_values(facts)]


def add_facts(path, lines):
    """Adds lines to the metadata of a result, before its columns."""
    if not lines:
        return
    with open(path, encoding="utf-8", errors="surrogateescape") as old, \
            open(path + ".facts", "w", encoding="utf-8", errors="surrogateescape") as new:
        for line in old:
            if line.startswith("# columns: "):
                new.writelines(one + "\n" for one in lines)
                lines = []
            new.write(line)
    os.replace(path + ".facts", path)
