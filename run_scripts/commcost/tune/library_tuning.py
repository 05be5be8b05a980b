# SPDX-License-Identifier: BSD-3-Clause
"""A tuning: the race of algorithms in launches of `collective`, and the proof of the resulting file."""

import os
import re
import typing
import zlib

from commcost.command import UsageError, say
from commcost.suite import launchers, suite_plan, trial_launches
from commcost.system import quoted, replace_file
from commcost.tune.algorithm_race import DEFAULT, PROOFS, Race, level_of, looks_of
from commcost.tune.mpi_libraries import Rule
from commcost.words import counted, cut, duration_text, parsed_number, size_text

PROGRAM = "tune.sh"
BENCHMARK = "collective/collective"
FILE = "file"           # the choice whose launches use the file
PROOF_RUNS_FROM = 101   # first run number of proofs in the folder
MESSAGE_MOST = 100      # characters of a failed launch's message
SHARE_OF_RACE = 2 / 3   # of the budget; the rest is for the proof
START_S = 1.0           # expected overhead of a launch before the first one is known


class Cell(typing.NamedTuple):
    """A case in which an algorithm is chosen."""

    contest: str
    operation: str
    ranks: int
    size: int  # in bytes; 0 for an operation without data


class Entry(typing.NamedTuple):
    """Cells that share their launches, and the variables of each choice."""

    name: str
    ranks: int
    cells: list
    settings: dict


class Left(Exception):
    """A signal or the budget ended the launches."""


class Tuning:
    """A tuning in its folder."""

    def __init__(self, options, library, contests):
        self.options, self.library, self.contests = options, library, contests
        self.trials = trial_launches.Trials(options.output, options.limit, options.budget, options.is_new)
        self.launcher = launchers.find(options.launcher, options.build)
        self.out, self.heads = {}, []  # out: by contest, ranks and choice, the reason for its removal
        self.changed = []  # library variables that are not at their defaults, but don't force a choice
        entries = [Entry(contest.name, ranks, [
            Cell(contest.name, operation, ranks, size) for operation in contest.operations
            for size in ([0] if operation == "barrier" else options.sizes)],
            {DEFAULT: {}, **{choice: library.variables(contest, choice) for choice in contest.choices
                             if library.fits(contest.operations[0], choice, ranks)}})
            for ranks in options.ranks for contest in contests]
        self.entries = [entry for entry in entries if len(entry.settings) > 1]

    def step(self, run, name, ranks, cells, variables):
        """Returns the launch that measures these cells."""
        options = self.options
        sizes = sorted({cell.size for cell in cells} - {0})
        words = [*suite_plan.launch_words(self.launcher, self.job(ranks), ranks, 1, variables),
                 os.path.join(options.build, BENCHMARK), "--check", f"--max-time={options.max_time:g}",
                 "--operations=" + ",".join(dict.fromkeys(cell.operation for cell in cells)),
                 *(["--sizes=" + ",".join(map(size_text, sizes))] if sizes else [])]
        return suite_plan.Step(run, name, name, "", trial_launches.FIRST_S, quoted(words))

    def job(self, ranks):
        return launchers.Job(ranks, self.options.ranks_per_node, self.options.hosts, self.options.bind)

    def ask_library(self):
        """Queries the library, in a launch with one rank per node, for variables that are not at their defaults.
        UsageError if any of them forces a choice."""
        job = self.job(self.options.ranks[-1])
        line = self.launcher.line(job, launchers.Launch(min(job.nodes, job.ranks), 1, {}))
        for name, source in self.library.changed_variables(line, self.contests).items():
            if re.fullmatch(self.library.FORCING, name):
                raise UsageError(f"{name} is set ({source}): unset it to measure the library's own choice")
            self.changed.append(f"{name} ({source})")

    def warnings(self):
        """Returns warnings of the launches, or expected warnings before the first one."""
        if self.trials.folder.records():
            return self.trials.warnings()
        return list(filter(None, [launchers.crowding(self.job(self.options.ranks[-1]), self.launcher)]))

    def choices(self):
        """Returns the choices of each cell, without the default."""
        return {cell: [choice for choice in entry.settings if choice != DEFAULT] for entry in self.entries
                for cell in entry.cells}

    def expected(self):
        """Returns a sentence with the min number and time of launches (if no choice gains anything), the max, the
        launches already made, and the budget."""
        options = self.options

        def launch_s(cells):
            return START_S + len(cells) * options.max_time

        once = sum(len(entry.settings) for entry in self.entries)
        once_s = sum(len(entry.settings) * launch_s(entry.cells) for entry in self.entries)
        proofs = {}
        for cell in self.choices():
            proofs.setdefault((cell.operation, cell.ranks), []).append(cell)
        proof_s = sum(2 * launch_s(cells) for cells in proofs.values())
        first, most = looks_of(options.launches)[0], options.launches
        ends = (duration_text(first * once_s), duration_text(most * (once_s + PROOFS * proof_s)))
        made, budget_s = len(self.trials.folder.last_results()), options.budget
        return (f"{first * once} to {most * (once + 2 * PROOFS * len(proofs))} launches, about {ends[0]} to {ends[1]}" +
                ("" if budget_s is None else f", of which {duration_text(budget_s)} now") +
                (f" ({counted(made, 'launch', 'launches')} made before)" if made else ""))

    def steps(self):
        return [self.step(1, f"{entry.name}-{entry.ranks}@{place}", entry.ranks, entry.cells, variables)
                for entry in self.entries for place, variables in enumerate(entry.settings.values())]

    def begin(self):
        """Makes the folder or resumes it. UsageError if it has a record of different options."""
        options = self.options
        steps = [*self.steps(), suite_plan.Step(0, "decide", "decide", "", 0,
                                          f"--min-gain={options.min_gain:g} --launches={options.launches}")]
        made = suite_plan.Plan(steps, {options.build: {BENCHMARK}}, [])
        there = self.trials.folder.read("plan.tsv").splitlines()
        if there and there != made.lines and not options.is_new:
            raise UsageError(f"{self.trials.folder.path:.200} was begun with other options: use these, or another "
                             "folder")
        self.trials.begin(made, [self.launcher], options)

    def decide(self):
        """Runs the tuning. Returns the Race, the Race of the proof, and True if the budget ended the first one. Raises
        Left if a signal or the budget of the proof ended it."""
        race = Race(self.choices(), self.options.min_gain, self.options.launches)
        say(f"{counted(sum(map(len, race.running.values())), 'choice')} of {counted(len(self.contests), 'variable')} "
            f"race in {counted(len(race.running), 'case')} (operation, ranks, size): {self.trials.folder.path}")
        say(f"This takes {self.expected()}")
        is_cut = False
        if self.options.budget is not None:
            self.trials.budget_s = SHARE_OF_RACE * self.options.budget
        try:
            self.run(race, self.entries, 1)
        except Left:
            if self.trials.left_by != trial_launches.BUDGET:
                raise
            is_cut = True
            race.end("the budget ended before a decision")
        self.trials.budget_s = self.options.budget
        self.keep_agreed(race)
        return race, self.prove(race, is_cut), is_cut


    def run(self, race, entries, first_run, suffix=""):
        """Measures choices alternately until the race is decided. Raises Left if a signal or the budget ended it.
        Reports only new rounds."""
        cases = counted(len(race.running), "case")
        for run in range(race.looks[-1] if race.running else 0):
            made = len(self.trials.names())
            for entry in entries:
                places = list(enumerate(entry.settings.items()))
                for place, (choice, variables) in places[run % len(places):] + places[:run % len(places)]:
                    cells = [cell for cell in entry.cells if race.runs(cell, choice)]
                    if cells:
                        name = f"{entry.name}-{entry.ranks}{suffix}@{place}"
                        step = self.step(first_run + run, name, entry.ranks, cells, variables)
                        self._measure(race, choice, cells, step)
            if run + 1 in race.looks:
                race.look(run + 1)
            if race.running and len(self.trials.names()) == made:
                continue
            left = (race.looks[-1] - run - 1) * sum(any(race.runs(cell, choice) for cell in entry.cells)
                                                    for entry in entries for choice in entry.settings)
            say(f"{'Proof' if suffix else 'Race'}, launch {run + 1} of at most {race.looks[-1]}: {len(race.decisions)} "
                f"of {cases} decided, {counted(sum(map(len, race.running.values())), 'choice')} left" +
                (f", at most {duration_text(left * self.trials.usual_s)}" if left else ""))
            if not race.running:
                break

    def _measure(self, race, choice, cells, step):
        """Adds the times of a launch to the race, or removes the choice."""
        if self.trials.known(step) is None:
            if not self.trials.launch(step):
                raise Left
        outcome, values = self.trials.known(step)[1], {}
        rows, head, _ = self.trials.rows(step)
        self.heads = self.heads or head
        for row in rows:
            time_us = parsed_number(row.get("time_us", "NA"))
            if time_us is not None and time_us > 0:
                values[row.get("operation"), int(parsed_number(row.get("size_bytes", "0")) or 0)] = time_us
        for cell in cells:
            value = values.get((cell.operation, cell.size))
            if outcome == trial_launches.WORKS and value is not None:
                race.add(cell, choice, value)
                continue
            reason = "no time in the result" if outcome == trial_launches.WORKS else outcome
            has_run = outcome in (trial_launches.WORKS, trial_launches.WRONG)
            message = "" if has_run else cut(self.trials.message(step), MESSAGE_MOST)
            if (cell.contest, cell.ranks, choice) not in self.out:
                say(f"{cell.contest} {choice}, {cell.ranks} ranks: {reason}")
                self.out[cell.contest, cell.ranks, choice] = ": ".join(filter(None, (reason, message)))
            what = "the library's own choice" if choice == DEFAULT else choice
            race.drop(cell, choice, f"{what}: {reason}")


    def rules(self, chosen):
        """Returns the Rules for choices by cell. Neighbouring sizes with the same choice share a rule."""
        made = []
        for contest in self.contests:
            for operation in contest.operations:
                for ranks in self.options.ranks:
                    last = None
                    for size in [0] if operation == "barrier" else sorted(self.options.sizes):
                        choice = chosen.get(Cell(contest.name, operation, ranks, size))
                        if choice and choice == last:
                            made[-1] = made[-1]._replace(high=size)
                        elif choice:
                            made.append(Rule(contest, operation, ranks, size, size, choice))
                        last = choice
        return made

    def keep_agreed(self, race):
        """Returns to the default if the cells of a contest disagree and the library's file can't choose by size."""
        for contest in self.contests if not self.library.chooses_by_size else []:
            cells = [cell for cell in race.decisions if cell.contest == contest.name]
            if len({race.decisions[cell].choice for cell in cells}) > 1:
                for cell in cells:
                    if race.decisions[cell].choice != DEFAULT:
                        race.decisions[cell] = race.decisions[cell]._replace(
                            choice=DEFAULT, reason="a variable can't choose by size, and sizes disagree")

    def prove(self, race, is_cut):
        """Runs launches alternately with and without the file, for all cells that have a rule. Returns the Race."""
        chosen = {cell: decision.choice for cell, decision in race.decisions.items() if decision.choice != DEFAULT}
        rules = self.rules(chosen)
        text = self.library.file_text(rules, [])
        # Measurements of a file are valid only for this file.
        suffix = f"-{zlib.crc32(text.encode()):08x}"
        earlier = re.findall("(-[0-9a-f]{8})@", " ".join(self.trials.names()))
        proof = Race({cell: [FILE] for cell in chosen}, self.options.min_gain, PROOFS * self.options.launches,
                     level_of(suffix, earlier, is_cut))
        if chosen:
            path = self.trials.folder.suite_file(f"candidate{self.library.suffix}")
            replace_file(path, text)
            settings = {DEFAULT: {}, FILE: self.library.file_variables(path, rules)}
            groups = {}
            for cell in chosen:
                groups.setdefault((cell.operation, cell.ranks), []).append(cell)
            self.run(proof, [Entry(operation, ranks, cells, settings) for (operation, ranks), cells in groups.items()],
                     PROOF_RUNS_FROM, suffix)
        return proof
