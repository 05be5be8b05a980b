# SPDX-License-Identifier: BSD-3-Clause
"""Launches of bench_compare --find-why: the program that changed most clearly, with settings of both sides."""

import math
import os

from commcost.command import Failure, UsageError, say
from commcost.compare import row_changes, side_settings
from commcost.suite import launchers, suite_plan, trial_launches
from commcost.system import quoted
from commcost.words import cut, listed, parsed_number, short

ROWS = 4            # max rows that are explained
SHOWN = 3           # settings in a line of progress
MESSAGE_MOST = 100  # characters of a failed launch's message


class Left(Exception):
    """A signal or the time limit ended the launches."""


def is_ratio(change):
    """True if a change counts as a ratio, not as a difference."""
    return not change.points and change.base > 0 and change.new > 0


def recorded(change):
    """Returns the change in the results: the logarithm of a ratio, or points."""
    return math.log1p(change.change_pct / 100) if is_ratio(change) else change.change_pct


def clearest(changes):
    """Returns the changes of the program that changed most clearly, by the end of the interval next to no change."""
    def least(change):
        share = min(change.interval, key=abs) / 100
        return abs(math.log1p(share) if is_ratio(change) else share)

    changed = [change for change in changes if change.verdict in (row_changes.SLOWER, row_changes.FASTER) and
               change.interval and (change.points or is_ratio(change))]
    ordered = sorted(changed, key=least, reverse=True)
    return [one for one in ordered if one.series.schema.benchmark == ordered[0].series.schema.benchmark][:ROWS]


class Launches:
    """The launches, in their folder. `targets` are the rows to be explained."""

    def __init__(self, options, comparison):
        self.comparison, self.targets = comparison, clearest(comparison.changes)
        if not self.targets:
            raise Failure("no row changed clearly: launch more often")
        self.benchmark = self.targets[0].series.schema.benchmark
        base, new = map(self._metadata, (row_changes.BASE, row_changes.NEW))
        self.settings = side_settings.settings_of(base, new, options.also)

        def number(key):
            return int(parsed_number(new.get(key, ["0"])[0]) or 0)

        line = new.get("command", [""])[0]
        self.program = side_settings.program_of(line, options.build)
        if not self.program:
            raise Failure(f"{options.build:.200} has no program of {self.benchmark}: build it, or use --build=FOLDER")
        self.words = side_settings.chosen_options(line, [change.series for change in self.targets])
        bind = "none" if side_settings.bind_of(new.get("binding", [""])[0]) == "none" else ""
        self.everything = range(len(self.settings.differing))
        self.job = launchers.Job(
            options.ranks or number("ranks") or 2,
            options.ranks_per_node or (number("ranks_per_node") if number("nodes") > 1 else None), options.hosts,
            options.bind or bind, any(launchers.progresses_asynchronously(self.settings.variables(chosen))
                                      for chosen in ((), self.everything)))
        self.launcher = launchers.find(options.launcher, options.build)
        self.trials = trial_launches.Trials(options.output, options.limit, options.time_limit, options.is_new)
        self.failure = ""  # message of the last launch that failed
        self._rows = {}    # by combination and round

    def _metadata(self, side):
        """Returns the metadata of a side's launches. UsageError if they have different variables."""
        found = [launch.result.metadata for launch in self.comparison.launches.launches
                 if launch.side == side and launch.counts and launch.result.benchmark == self.benchmark]
        if any(set(one.get("mpi_variable", [])) != set(found[0].get("mpi_variable", [])) for one in found):
            raise UsageError(f"launches of the {row_changes.SIDES[side]} side have different variables: use a "
                             "folder for each setting")
        return found[0]

    def _step(self, chosen, run):
        """Returns the launch of a round with the new side's values of the `chosen` settings."""
        job = self.job._replace(bind=self.settings.bind(chosen, self.job.bind))
        threads = suite_plan.threads_of(self.program, self.words)
        words = [*suite_plan.launch_words(self.launcher, job, job.ranks, threads, self.settings.variables(chosen)),
                 self.program, *self.words]
        name = f"{os.path.basename(self.program)}@{sum(1 << place for place in chosen)}"
        return suite_plan.Step(run, name, name, "", trial_launches.FIRST_S, quoted(words))

    def begin(self, options):
        """Makes the folder or resumes it."""
        steps = [self._step(chosen, 1) for chosen in ((), self.everything)]
        programs = {options.build: {os.path.relpath(self.program, options.build)}}
        self.trials.begin(suite_plan.Plan(steps, programs, []), [self.launcher], options)

    def measure(self, change, chosen, run):
        """Returns a row's value in the launch of a combination, or None if the launch failed. Launches it unless it is
        recorded. Raises Left if a signal or the time limit ended it."""
        step = self._step(chosen, run)
        known = self.trials.known(step)
        if known is None and not self.trials.launch(step):
            raise Left
        outcome = self.trials.known(step)[1]
        self._rows[chosen, run] = self.trials.rows(step)[0] if outcome == trial_launches.WORKS else []
        value = self.value(change, chosen, run)
        text = outcome if value is None else f"{change.series.quantity} {short(value)}"
        if value is None:
            message = self.trials.message(step) if outcome != trial_launches.WORKS else "no value in the result"
            self.failure = f"{self.label(chosen)}: {outcome}: {cut(message, MESSAGE_MOST)}"
        if known is None:
            say(f"Launch {len(self.trials.names())}: {self.label(chosen)}: {text}")
        return value

    def value(self, change, chosen, run):
        """Returns a row's value in a launch that was made, or None."""
        keys = dict(zip(change.series.schema.keys, change.series.keys))
        values = [parsed_number(row.get(change.series.quantity, "NA")) for row in self._rows[chosen, run]
                  if all(row.get(key, value) == value for key, value in keys.items())]
        value = values[0] if values else None
        return None if value is None or value <= 0 and is_ratio(change) else value

    def label(self, chosen):
        """Returns the name of a combination."""
        names = [str(self.settings.differing[place]) for place in sorted(chosen)]
        if len(names) in (0, len(self.settings.differing)):
            return "new" if names else "base"
        return f"base with {listed(names, SHOWN)}"
