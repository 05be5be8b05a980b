# SPDX-License-Identifier: BSD-3-Clause
"""Launches one by one in a suite's folder, each of which may crash, hang or find wrong data. Outcomes are recorded, so
no launch is repeated.
"""

import collections
import math
import os
import re
import shutil
import signal
import time

from commcost import command
from commcost.command import Failure
from commcost.result.result_reader import Result, ResultError
from commcost.suite import launch_processes, suite_folder, suite_plan
from commcost.system import lines_of
from commcost.words import counted

FIRST_S = 3.0  # expected time of the first launch
WORKS, WRONG, HANG, REFUSED, FAILED = "works", "wrong data", "hang", "refused", "failed"
BUDGET = "budget"

# Messages of programs and libraries before they end.
WORDS_OF_REFUSAL = r"^commcost: rank [0-9]+: .* failed at |^[a-z_]+: --|Fatal error in P?MPI_|An error occurred in MPI_"
WORDS_OF_HYDRA = "assert (!closed) failed"  # hydra lost the ranks of a node
WORDS_OF_FAILURE = "^commcost: rank [0-9]+: "


def crash_of(status, text):
    """Returns the outcome if a signal ended a rank, from the launcher's output (hydra, Open MPI) or status, otherwise
    None. hydra combines the signals of all ranks bit by bit, including its own SIGKILL, so a reported SIGTERM may be
    any signal. On a busy machine hydra 4.0 may fail and name no signal."""
    numbers = [int(number) for number in re.findall(r"\bsignal:? (?:[a-z ]+\()?([0-9]{1,2})\b", text, re.I)]
    names = [one.name for number in numbers or [status - 128] for one in signal.Signals if one == number]
    known = [name for name in names if name != "SIGTERM"]
    return f"crash ({known[0]})" if known else "crash" if names or WORDS_OF_HYDRA in text else None


def outcome_of(status, timed_out, verdict, text):
    """Returns the outcome of a launch from exit status, time limit, suite_folder.verdict of its result, and output.
    Messages take precedence over signals, since a launcher also sends signals to the other ranks."""
    if verdict in suite_folder.WHOLE:
        return WORKS if verdict == "done" else WRONG
    if timed_out:
        return HANG
    for outcome, words in ((REFUSED, WORDS_OF_REFUSAL), (FAILED, WORDS_OF_FAILURE)):
        if re.search(words, text, re.M):
            return outcome
    return crash_of(status, text) or (REFUSED if status == command.EXIT_USAGE else FAILED)


def message_of(lines):
    """Returns the most useful line of a log: the program's own message, else the first error, else the last line."""
    lines = [line.strip() for line in lines[1:] if re.search("[A-Za-z]", line)]
    for pattern in (r"^[a-z_]+: (rank [0-9]|--)", "error|fault|signal|fail|abort"):
        found = [line for line in lines if re.search(pattern, line, re.I)]
        if found:
            return found[0]
    return lines[-1] if lines else ""


def rows_of(path):
    """Returns the rows of a result by column, its head, and its warnings, all empty without a result. Row numbers are
    removed from warnings."""
    try:
        with Result(path) as result:
            rows = [dict(zip(result.header, cells)) for cells in result.rows()]
            return rows, result.head, [
                re.sub("[0-9]+", "…", remark.text) if re.match("row [0-9]", remark.text) else remark.text
                for remark in result.remarks if remark.kind == "warning"]
    except ResultError:
        return [], [], []


class Trials:
    """Steps of a plan in their folder. `left_by` is the signal or BUDGET that ended the last launch without an outcome.
    Launches that would exceed budget_s are not started."""

    def __init__(self, path, limit_s, budget_s=None, is_new=False):
        self.folder = suite_folder.Folder(os.path.abspath(path), is_new)
        self.limit_s, self.budget_s, self.left_by = limit_s, budget_s, None
        self._signals, self._begin_s, self._outcomes, self._seconds = None, time.monotonic(), {}, []
        self._is_new = is_new

    def begin(self, made, used, options):
        """Makes or resumes the folder. Failure if it has a different plan. `options` are from launch_options.parsed."""
        self.folder.check()
        self._is_new = self._is_new or not os.path.exists(self.folder.path)
        self.folder.make()
        self.folder.lock()
        self.folder.begin(made, suite_folder.versions_of(made.programs, used), options.hosts)
        self.folder.replace("options", "".join(word + "\n" for word in options.kept))
        self._signals = launch_processes.Signals()
        for process in launch_processes.left_behind(os.path.join(self.folder.path, "runs")):
            launch_processes.end(process)
        for run, name, seconds, outcome in self.folder.records():
            self._outcomes[run, name] = (seconds, outcome)
            self._seconds.append(seconds)

    def known(self, step):
        """Returns (seconds, outcome) of a finished launch, or None."""
        return self._outcomes.get((str(step.run), step.name))

    def names(self):
        return [name for _, name in self._outcomes]

    def rows(self, step):
        return rows_of(self.folder.launch_file(step))

    def warnings(self):
        """Returns warnings in results as sentences, each with its number of launches."""
        records = set(self.folder.last_results())
        found = collections.Counter(text for run, name in records for text in set(rows_of(
            self.folder.launch_file(suite_plan.Step(run, name, name, "", 0, "")))[-1]))
        return [f"{text} (in {number} of {counted(len(records), 'launch', 'launches')})"
                for text, number in sorted(found.items(), key=lambda item: -item[1])]

    def message(self, step):
        return message_of(lines_of(self.folder.log_file(step)))

    @property
    def usual_s(self):
        return sum(self._seconds) / len(self._seconds) if self._seconds else FIRST_S

    def launch(self, step):
        """Runs a launch and records its outcome. False if a signal or the budget ended it. Failure if the program
        refuses its options in the first launch; a folder that this call made is then removed."""
        left_s = math.inf if self.budget_s is None else self.budget_s - (time.monotonic() - self._begin_s)
        self._signals.look()
        self.left_by = self._signals.last.name if self._signals.last else BUDGET if left_s < self.usual_s else None
        if self.left_by:
            return False
        file, limit_s = self.folder.launch_file(step), min(self.limit_s, left_s)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        begin, seconds, status, verdict = self.folder.launch(step, limit_s, self._signals)
        if status is None or verdict == "interrupted":
            self.left_by = self._signals.last.name if self._signals.last else "a signal that somebody sent the program"
        elif seconds >= limit_s and limit_s < self.limit_s and verdict not in suite_folder.WHOLE:
            self.left_by = BUDGET
        if self.left_by:
            return False
        outcome = outcome_of(status, seconds >= limit_s, verdict, "\n".join(lines_of(self.folder.log_file(step))))
        if outcome == REFUSED and not self._outcomes and re.search("^[a-z_]+: --", self.message(step)):
            message = self.message(step)
            if self._is_new:
                shutil.rmtree(self.folder.path, ignore_errors=True)
            raise Failure(f"the first launch was refused: {message}")
        if os.path.exists(file + ".part"):
            os.replace(file + ".part", file)
        self.folder.record(step, begin, f"{seconds:.0f}", status, outcome)
        self._outcomes[str(step.run), step.name] = (int(seconds + 0.5), outcome)
        self._seconds.append(seconds)
        return True
