# SPDX-License-Identifier: BSD-3-Clause
"""Lines about a job that doesn't start or end: the message, and a remedy or launcher with which it does."""

import os
import re
import shutil

from commcost.checkup import installations
from commcost.checkup.findings import NO_TIME, PROBLEM, UNKNOWN, Line, setting_of
from commcost.checkup.jobs import SHORT, Setting
from commcost.suite import launchers
from commcost.system import shell_command
from commcost.words import counted

def other_starters(jobs, built_with):
    """Launchers that may start the job if this one doesn't: srun with another PMI, the library's own, and others."""
    known = {os.path.realpath(shutil.which(jobs.launcher.words[0]) or "")}

    def is_new(command):
        path = shutil.which(command)
        is_unknown = path is not None and os.path.realpath(path) not in known
        known.add(os.path.realpath(path or ""))
        return is_unknown

    if jobs.launcher.name == "srun":
        words = [word for word in jobs.launcher.words if not word.startswith("--mpi=")]
        for name in ("pmi2", "pmix"):
            yield launchers.Srun([*words, f"--mpi={name}"])
    if built_with and is_new(built_with):
        yield launchers.find(built_with, "")
    for kind in launchers.KINDS.values():
        for command in getattr(kind, "commands", ()) if kind is not launchers.Srun else ():
            if is_new(command) and launchers.kind_of(command) is kind:
                yield kind([command])


def starts(outcome, asked):
    return outcome.facts is not None and len(outcome.facts.ranks) == asked


def message_of(outcome):
    """The line of a failed launch that tells most."""
    if outcome.status is None:
        return f"no end within {outcome.limit_s:.2g} s"
    lines = [re.sub(r"^(\[[^]]*\]\s*)+", "", line.strip()) for line in outcome.text.splitlines()
             if re.search("[A-Za-z]", line) and not re.search(r"\.c:\d+\)|BAD TERMINATION", line)]  # hydra's own
    signalled = re.search("EXIT STRING: (.+)", outcome.text)  # hydra
    if signalled:
        return f"a rank ended: {signalled.group(1).strip()}"
    code = re.search("EXIT CODE: ([0-9]+)", outcome.text)
    ended = [f"a rank ended: exit status {code.group(1)}"] if code else []
    errors = [line for line in lines if re.search("error|fail|denied|cannot|unable|job of its own|signal", line, re.I)]
    return (errors or ended or lines or [f"exit status {outcome.status}"])[0]


MAY_PREVENT_START = ("Within a node", "Between nodes", "Variables")  # checks whose remedies may start a job


def may_start(jobs, found, found_by_facts, built_with):
    """Yields the Line and the Setting of each remedy, then of each launcher, with which the job may start."""
    tried = set()
    for finding, remedy in ((finding, remedy) for finding in found_by_facts for remedy in finding.remedies):
        setting = setting_of(remedy)
        if finding.check in MAY_PREVENT_START and not remedy.untried and setting not in tried:
            tried.add(setting)
            why = finding.found.replace("slows messages", "prevents the start")
            yield Line(finding.check, PROBLEM, why, remedy.text, scope=finding.scope), setting
    for launcher in other_starters(jobs, built_with):
        setting = Setting(launcher=launcher)
        yield Line("Start", PROBLEM, found, shell_command(*jobs.line(setting))), setting


def singletons(job):
    """The sentence about ranks that don't know of each other: the launcher may be another library's."""
    library = installations.library_of(job.facts.ranks[0].text("mpi_library"))[0] if job.facts.ranks else ""
    launcher = job.installation.family
    is_others = library and launcher not in ("", installations.SLURM, library)
    cause = f": the launcher is of {launcher}, the library of {library}" if is_others else ""
    return f"each of {job.asked_ranks} ranks is a job of its own{cause}"


def start_lines(jobs, outcome, job, found_by_facts):
    """Lines about a job that doesn't start or end: the message, and a remedy or launcher with which it does."""
    facts, asked = job.facts, job.asked_ranks
    # With srun a rank doesn't see that it lacks others: the job ends well.
    started = len(outcome.facts.ranks) if outcome.facts else 0
    found = (f"{counted(started, 'rank')} started, {asked} asked" if started > 1 else
             singletons(job) if "job of its own" in outcome.text or outcome.status == 0 else
             f"no start: {message_of(outcome):.70}")
    built_with = facts.ranks[0].text("mpirun_built_with") if facts.ranks else ""
    left, start = [], Line("Start", PROBLEM, found)
    for line, setting in may_start(jobs, found, found_by_facts, built_with):
        outcome = jobs.measure(setting, SHORT)
        if starts(outcome, asked):
            return [line._replace(tried=f"starts {counted(asked, 'rank')}"), start]
        if outcome.out_of_time:
            status = PROBLEM if line.check == "Start" else UNKNOWN
            left.append(line._replace(status=status, tried=NO_TIME))
            if line.check == "Start":
                break
    return [*left, start]
