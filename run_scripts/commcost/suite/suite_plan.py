# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a suite: suite.list, the chosen entries, their options and settings, and the commands."""

import functools
import itertools
import os
import re
import typing

from commcost.command import Failure, UsageError
from commcost.result.result_files import labels_of
from commcost.suite import launchers
from commcost.system import SCRIPTS, lines_of, quoted

SECONDS_MAX = 1e7
LIST = os.path.join(SCRIPTS, "suite.list")


NAMES = "COMMCOST_VARIABLES"  # "A= B=": variables that a result must confirm (common/job/metadata.c)


def launch_words(launcher, job, ranks, threads, variables):
    """Returns the words before a program and its options. `variables` are of the environment, "" if unset."""
    given = {name: value for name, value in variables.items() if value}
    words = ["env", *(word for name in variables if name not in given for word in ("-u", name))] if variables else []
    if variables:
        given[NAMES] = " ".join(f"{name}=" for name in variables)
    return [*words, *(f"{name}={value}" for name, value in given.items()),
            *launcher.line(job, launchers.Launch(ranks, threads, given))]


def variables_of(words):
    """Returns the variables in launch_words, "" if unset."""
    names = next((word[len(NAMES) + 1:] for word in words if word.startswith(NAMES + "=")), "")
    given = dict(word.partition("=")[::2] for word in reversed(words))
    return {name: given.get(name, "") for name in names.replace("=", " ").split()}


class Entry(typing.NamedTuple):
    """A program of suite.list, with its options in a suite and the name of its result."""

    name: str
    groups: tuple
    ranks: str     # "all" or a number
    program: str   # below the build folder
    seconds: float
    options: str


@functools.lru_cache()
def collectives():
    """Returns the collectives of suite.list, by which overlap programs are named."""
    return next(line for line in lines_of(LIST) if line.startswith("collectives:")).split()[1:]


def read_list(suite):
    """Returns the Entries of a suite (full, quick, essentials). Programs with a * are repeated for each operation."""
    entries, cells, operations = [], [], []
    for line in lines_of(LIST):
        if "|" in line and not line.startswith("#"):
            *cells, words = [cell.strip() for cell in f"{line} | but".split("|")[:5]]
            operations = ([one for one in collectives() if one not in words.split()] if words.startswith("but") else
                          words.split()) if "*" in line else [""]
        elif line.startswith(" ") and line.split()[0] == suite:
            _, seconds, *options = line.split(None, 2)
            for operation in operations:
                name, group, ranks, program = [cell.replace("*", operation) for cell in cells]
                entries.append(Entry(name, (group, "all"), ranks, program, float(seconds), "".join(options)))
    return entries


def chosen(entries, choice):
    """Returns the entries chosen by a comma-separated list of names and groups, and the unknown words. Names take
    precedence over groups."""
    names, words = {entry.name for entry in entries}, choice.split(",")
    taken = [entry for entry in entries
             if entry.name in words or any(word not in names and word in entry.groups for word in words)]
    known = names.union(*(entry.groups for entry in entries))
    return taken, [word for word in words if word not in known]


def unknown_name(word):
    return f"no benchmark '{word:.100}': --dry-run shows all names"


def max_time(options):
    """Returns the max seconds of a row: the last --max-time, or its default."""
    found = re.findall(r"--max-time=([0-9]+\.?[0-9]*|\.[0-9]+)", options)
    return min(float(found[-1]), SECONDS_MAX) if found else 1.0


def threads_of(program, words):
    found = re.findall(r"(?:^| )(?:-t ?|--threads[= ])([0-9]{1,5})(?= |$)", " ".join(words))
    return int(found[-1]) if found and os.path.basename(program) == "msgrate_rma" else 1


class Setting(typing.NamedTuple):
    """A combination of varied values: its name in results, environment variables ("" if unset), and build and launcher,
    None for the suite's."""

    name: str
    variables: dict
    build: typing.Optional[str] = None
    launcher: typing.Optional[str] = None


def settings_of(varied):
    """Returns a Setting per combination of --vary's values, or one without a name. UsageError for unusable values."""
    axes, called = {}, {}  # axes: values by varied item; called: name in results by folder
    for text in varied:
        found = re.fullmatch("([A-Za-z_][A-Za-z0-9_]*=|(?:build|launcher):)(.+)", text)
        name, values = found.groups() if found else ("", "")
        values = values.split(";" if ";" in values else ",")
        if len(values) < 2 or "" in values and name.endswith(":") or len(set(values)) < len(values):
            raise UsageError(f"--vary: '{text:.200}': use VARIABLE=A,B or VARIABLE=,A or build:A,B or launcher:A,B, "
                             "all values different")
        for value in values if name == "build:" else []:
            if not os.path.isdir(value):
                raise UsageError(f"--vary: no folder '{value:.200}'")
        if name in axes:
            raise UsageError("--vary: a variable is varied twice: give all of its values at once")
        axes[name] = values
        called.update(zip(values, labels_of(values)) if name == "build:" else ())
    settings = []
    for values in itertools.product(*axes.values()):
        combined = dict(zip(axes, values))
        build, launcher = combined.get("build:"), combined.get("launcher:")
        settings.append(Setting(
            " ".join(f"{name[:-1]}={called[value] if name == 'build:' else value}" if value else f"{name[:-1]} unset"
                     for name, value in combined.items()),
            {name[:-1]: value for name, value in combined.items() if name.endswith("=")},
            build, launcher))
    return settings


class Step(typing.NamedTuple):
    """A launch of the plan."""

    run: int
    name: str      # of its file, without .tsv
    entry: str     # name of its Entry
    setting: str
    seconds: float  # expected
    command: str


class Plan(typing.NamedTuple):
    """All launches in their order, and their programs."""

    steps: list
    programs: dict  # by build: programs to start
    missing: list   # programs that weren't built

    @property
    def lines(self):
        return ["run\tname\tcommand"] + [f"{step.run}\t{step.name}\t{step.command}" for step in self.steps]


def make_plan(options, job, settings):
    """Returns the Plan of run_suite.sh's options (read_options). Settings alternate."""
    entries = read_list(options.suite)
    wanted, unknown = chosen(entries, options.benchmarks)
    if unknown:
        raise UsageError(f"--benchmarks: {unknown_name(unknown[0])}")
    extras = []
    for text in options.options:
        who, _, words = text.partition(":")
        of_whom, unknown = chosen(entries, who)
        if unknown:
            raise UsageError(f"--options: '{text:.200}': {unknown_name(unknown[0])}")
        extras.append((of_whom, words))
    steps, programs, missing = [], {}, []
    for entry in wanted:
        extra = "".join(" " + words for of_whom, words in extras if entry in of_whom)
        text = f"{entry.options} {extra}".replace("{peers}", str(min(6, job.ranks - 1))).split()
        listed_s, given_s = max_time(entry.options), max_time(entry.options + extra)
        seconds = entry.seconds if given_s == listed_s else (0.5 + entry.seconds * given_s / listed_s)
        for place, setting in enumerate(settings, 1):
            build = setting.build or options.build
            program = os.path.join(build, entry.program)
            if not os.access(program, os.X_OK):
                if entry.name in options.benchmarks.split(","):
                    raise Failure(f"{entry.name}: no program {program}: build it first")
                missing.append(entry.name)
                continue
            words = [*launch_words(options.launchers[setting.launcher, setting.build], job,
                                   job.ranks if entry.ranks == "all" else int(entry.ranks),
                                   threads_of(program, text), setting.variables), program, *text]
            programs.setdefault(build, set()).add(entry.program)
            name = entry.name + (f"@{place}" if setting.name else "")
            steps.append(Step(0, name, entry.name, setting.name, seconds, quoted(words)))
    if not steps:
        raise Failure(f"none of the programs is in {options.build}: build them first")
    return Plan([step._replace(run=run) for run in range(1, options.runs + 1) for step in steps],
                programs, list(dict.fromkeys(missing)))
