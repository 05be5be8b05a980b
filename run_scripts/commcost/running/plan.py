"""What a suite runs: suite.list, what of it is chosen, with which options and in which settings, and
the commands that come of it."""

import functools
import itertools
import os
import re
import shlex
import typing

from commcost.command import Failure, UsageError
from commcost.running import launchers
from commcost.system import SCRIPTS, lines_of

LIST = os.path.join(SCRIPTS, "suite.list")


def quoted(words):
    """The words as a line that a shell reads back as they were."""
    return " ".join(map(shlex.quote, words))


# ---- suite.list ----------------------------------------------------------------------------------

class Entry(typing.NamedTuple):
    """A program of suite.list with the options of a suite, and what its result is called."""

    name: str
    groups: tuple
    ranks: str     # "all" or a number
    program: str   # below the build folder
    seconds: float
    options: str


@functools.lru_cache()
def collectives():
    """The collectives of suite.list, which the overlap programs are called by."""
    return next(line for line in lines_of(LIST) if line.startswith("collectives:")).split()[1:]


def read_list(suite):
    """The Entries of a suite (full, quick, essentials), those with a star once for each operation."""
    entries, cells = [], []
    for line in lines_of(LIST):
        if line.startswith(" ") and line.split()[0] == suite:
            entries += entries_of(*cells, *line.split(None, 2)[1:])
        elif "|" in line and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split("|")]
            cells += [""] * (5 - len(cells))
    return entries


def entries_of(name, group, ranks, program, operations, seconds, options=""):
    """The Entries of a program's line and one below it."""
    for operation in (stands_for(operations.split()) if "*" in name else [""]):
        yield Entry(name.replace("*", operation), (group, "all"), ranks,
                    program.replace("*", operation), float(seconds), options)


def stands_for(words):
    """What a star stands for by the last column's words."""
    if not words or words[0] == "but":
        return [one for one in collectives() if one not in words]
    return words


def chosen(entries, choice):
    """The entries of a list of names and groups, with commas; a name beats a group. And the words
    that are none."""
    names = {entry.name for entry in entries}
    words = choice.split(",")
    taken = [entry for entry in entries
             if any(word == entry.name or (word not in names and word in entry.groups)
                    for word in words)]
    unknown = [word for word in words
               if not any(word == entry.name or word in entry.groups for entry in entries)]
    return taken, unknown


def max_time(options):
    """The seconds that a row may take: the last --max-time, or its default."""
    found = re.findall(r"--max-time=([0-9]+\.?[0-9]*|\.[0-9]+)", options)
    return float(found[-1]) if found else 1.0


def threads_of(program, words):
    """How many threads a rank is told to have."""
    threads = 1
    if os.path.basename(program) == "msgrate_rma":
        for word, following in zip(words, [*words[1:], ""]):
            found = re.fullmatch("-t([0-9]+)|--threads=([0-9]+)", word)
            text = next(filter(None, found.groups())) if found else following
            if (found or word in ("-t", "--threads")) and re.fullmatch("[0-9]{1,5}", text):
                threads = int(text)
    return threads


# ---- settings ------------------------------------------------------------------------------------

class Setting(typing.NamedTuple):
    """A combination of what is varied: its name in results, variables of the environment, and the
    build and launcher, None for the suite's own."""

    name: str
    variables: dict
    build: typing.Optional[str] = None
    launcher: typing.Optional[str] = None


def settings_of(varied):
    """The Settings of --vary's values, one combination each; without any, one without a name.
    UsageError for what can't be varied like this."""
    axes = []
    for text in varied:
        found = re.fullmatch("([A-Za-z_][A-Za-z0-9_]*)=(.+)|(build|launcher):(.+)", text)
        values = (found.group(2) or found.group(4)) if found else ""
        values = values.split(";" if ";" in values else ",")
        if len(values) < 2 or "" in values or len(set(values)) < len(values):
            raise UsageError(f"--vary: '{text:.200}': use VARIABLE=A,B or build:A,B or "
                             "launcher:A,B with two different values or more")
        for value in values if found.group(3) == "build" else []:
            if not os.path.isdir(value):
                raise UsageError(f"--vary: no folder '{value:.200}'")
        axes.append([(found.group(1) or found.group(3), bool(found.group(1)), value)
                     for value in values])
    if len({axis[0][0] for axis in axes}) < len(axes):
        raise UsageError("--vary: one variable is varied twice: name all of its values at once")
    settings = []
    for combination in itertools.product(*axes):
        other = {name: value for name, is_variable, value in combination if not is_variable}
        settings.append(Setting(
            " ".join(f"{name}={value}" for name, _, value in combination),
            {name: value for name, is_variable, value in combination if is_variable},
            os.path.abspath(other["build"]) if "build" in other else None,
            other.get("launcher")))
    return settings


# ---- commands ------------------------------------------------------------------------------------

class Step(typing.NamedTuple):
    """A launch of the plan."""

    run: int
    name: str      # of its file, without .tsv
    entry: str     # what it is of
    setting: str
    seconds: float  # that it should take
    command: str


class Plan(typing.NamedTuple):
    """All launches in their order, and what the programs that they start are."""

    steps: list
    programs: dict  # by build: those that are started
    missing: list   # programs that weren't built

    @property
    def lines(self):
        """plan.tsv."""
        return ["run\tname\tcommand"] + [f"{step.run}\t{step.name}\t{step.command}"
                                         for step in self.steps]


def make_plan(options, job, settings):
    """The Plan of run_suite.sh's options (suite.Options). Settings are taken in turn."""
    entries = read_list(options.suite)
    wanted, unknown = chosen(entries, options.benchmarks)
    if unknown:
        raise UsageError(f"--benchmarks: there is no {' '.join(unknown)} (--dry-run shows all "
                         "names)")
    extras = []
    for text in options.options:
        who, _, words = text.partition(":")
        of_whom, unknown = chosen(entries, who)
        if unknown:
            raise UsageError(f"--options: '{text:.200}': there is no {who:.100}")
        extras.append(({entry.name for entry in of_whom}, words))
    peers = str(min(6, job.ranks - 1))
    steps, programs, missing = [], {}, []
    for entry in wanted:
        extra = "".join(" " + words for names, words in extras if entry.name in names)
        text = f"{entry.options} {extra}".replace("{peers}", peers)
        listed_s, given_s = max_time(entry.options), max_time(entry.options + extra)
        seconds = entry.seconds if given_s == listed_s else (
            0.5 + entry.seconds * given_s / listed_s)
        ranks = job.ranks if entry.ranks == "all" else int(entry.ranks)
        for place, setting in enumerate(settings, 1):
            build = setting.build or options.build
            program = os.path.join(build, entry.program)
            if not os.access(program, os.X_OK):
                if entry.name in options.benchmarks.split(","):
                    raise Failure(f"{entry.name}: no program {program}: build it "
                                               "first")
                missing.append(entry.name)
                continue
            launch = launchers.Launch(ranks, threads_of(program, text.split()), setting.variables)
            launcher = options.launchers[setting.launcher, setting.build]
            words = [*(["env"] if setting.variables else []),
                     *(f"{name}={value}" for name, value in setting.variables.items()),
                     *launcher.line(job, launch), program, *text.split()]
            programs.setdefault(build, set()).add(entry.program)
            name = entry.name + (f"@{place}" if setting.name else "")
            steps.append(Step(0, name, entry.name, setting.name, seconds, quoted(words)))
    if not steps:
        raise Failure(f"none of the programs is in {options.build}: build them first")
    return Plan([step._replace(run=run) for run in range(1, options.runs + 1) for step in steps],
                programs, list(dict.fromkeys(missing)))
