"""Launches that try operations with buffers on a GPU."""

import typing

from commcost.command import say
from commcost.page import Mark
from commcost.suite import launchers, suite_plan
from commcost.system import lines_of, quoted
from commcost.tune import trial_launches
from commcost.tune.device_operations import Trial
from commcost.tune.trial_launches import WORKS, Trials
from commcost.words import in_words, is_number, short


class Found(typing.NamedTuple):
    """The outcome of a trial."""

    trial: Trial
    outcome: str
    seconds: int
    message: str  # of one that doesn't work
    row: dict     # of the result, its cells by column; empty without one

    @property
    def verdict(self):
        """Returns the verdict on direct against staged; "" if unknown."""
        return {"pays": "direct pays", "loses": "staged pays", "even": "even"}.get(
            self.row.get("direct_verdict"), "") if self.outcome == WORKS else ""

    def mark(self):
        """Returns the cell of the matrix."""
        if self.outcome != WORKS:
            return Mark(self.outcome, "loses")
        time_us = self.row.get(self.trial.operation.column, "NA")
        text = f"{short(float(time_us))} µs" if is_number(time_us) else WORKS
        return Mark(", ".join(filter(None, (text, self.verdict))), "even" if self.verdict == "staged pays" else "pays")


class Matrix:
    """The operations to try, in their folder. Recorded ones aren't tried again."""

    def __init__(self, options, tried):
        self.options, self.tried = options, tried
        self.trials = Trials(options.output, options.limit, None, options.is_new)
        self.launcher = launchers.find(options.launcher, options.build)
        job = launchers.Job(options.ranks, options.ranks_per_node, options.hosts, options.bind)
        launch = self.launcher.line(job, launchers.Launch(options.ranks, 1, {}))
        self.steps = [suite_plan.Step(1, one.name, one.name, "", trial_launches.FIRST_S,
                                      quoted(one.line(options.build, launch))) for one in tried]

    def left(self):
        """Returns the Steps without a record."""
        return [step for step in self.steps if self.trials.known(step) is None]

    def run(self):
        """Runs the launches. True if all were made."""
        programs = {self.options.build: {one.operation.program for one in self.tried}}
        self.trials.begin(suite_plan.Plan(self.steps, programs, []), [self.launcher], self.options)
        left, total = self.left(), len(self.steps)
        for place, step in enumerate(left):
            say(f"[{total - len(left) + place + 1:{len(str(total))}}/{total}] {step.name:<40} about "
                f"{in_words((len(left) - place) * self.trials.usual_s)} left")
            if not self.trials.launch(step):
                return False
            outcome = self.trials.known(step)[1]
            if outcome != WORKS:
                say(f"    {outcome}")
        return True

    def found(self):
        """Returns the outcomes of recorded trials."""
        found = []
        for trial, step in zip(self.tried, self.steps):
            if self.trials.known(step):
                seconds, outcome = self.trials.known(step)
                message = "" if outcome == WORKS else self.trials.message(step)
                rows, *_ = self.trials.rows(step)
                found.append(Found(trial, outcome, seconds, message, rows[-1] if rows else {}))
        return found

    def said(self):
        """Returns head and remarks of the first result that names its GPU, as lines."""
        for step in self.steps:
            lines = lines_of(self.trials.folder.launch_file(step))
            if any("; the MPI library " in line for line in lines):
                return [line for line in lines if line.startswith("#")]
        return []
