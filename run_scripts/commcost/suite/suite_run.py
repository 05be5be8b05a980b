# SPDX-License-Identifier: BSD-3-Clause
"""A suite from its plan to its end: launches, merged results, and the final summary."""

import math
import os
import time

from commcost import command
from commcost.command import Failure, UsageError, say
from commcost.suite import launch_conditions, launch_options, launch_processes, suite_folder
from commcost.suite.suite_folder import WHOLE
from commcost.suite.suite_options import KEPT, PROGRAM
from commcost.system import TOP, lines_of, now, quoted, remove, script, shell_command
from commcost.words import counted, duration_text

BUDGET, JOB_TIME = "the budget", "the job's time"  # reasons to end
JOB_END_S = 30  # before Slurm ends the job: to end a launch (at most 10 s), merge results, and requeue the job
EXIT_TO_RESUME = 3


class Suite:
    """A suite in its folder, from the plan to its end."""

    def __init__(self, options, made, job, argv, write_summary):
        """Prepares a suite. `write_summary` is called with the folder when its results are merged."""
        self.options, self.plan, self.job, self.argv, self._write_summary = options, made, job, argv, write_summary
        self.total = len(made.steps)
        settings = len({step.setting for step in made.steps})
        varied = f" in {settings} settings" if settings > 1 else ""
        programs = counted(len({step.entry for step in made.steps}), "program")
        what = (f"{programs}, each launched {options.runs} times{varied}" if options.runs > 1 or varied else
                "one of each program")
        self.what = f"{counted(self.total, 'launch', 'launches')}: {what}, with {job.ranks} ranks"
        self.folder = suite_folder.Folder(os.path.abspath(options.output), options.is_new)
        self.signals, self.begin_s = None, 0.0
        self.time_s, self.ended_by = math.inf, None  # seconds for this call, and the reason for its end
        self.facts = []    # lines of metadata
        self.leave = None  # BUDGET, JOB_TIME, or a signal's name

    def dry_run(self):
        """Prints the launches without a result, and their time."""
        self.folder.check()
        self.folder.claim()
        left = [(step, line) for step, line in zip(self.plan.steps, self.plan.lines[1:]) if not self.is_measured(step)]
        some = f", {self.total - len(left)} of them measured before" if len(left) < self.total else ""
        seconds = sum(step.seconds for step, _ in left)
        print(f"# {self.what}{some}: about {duration_text(seconds)}", *(line for _, line in left), sep="\n")

    def run(self, job_left_s):
        """Runs the suite. Returns the exit status. `job_left_s` are the seconds until the job ends, or None. Failure if
        the folder can't be used."""
        path = self.options.output
        try:
            self.folder.check()
            self.folder.make()
        except OSError:
            raise Failure(f"cannot make the folder {path}: use another --output=FOLDER") from None
        try:
            return self._run(job_left_s)
        except OSError:
            say(f"To resume: {self.resume_command()}")
            raise Failure(f"cannot write in {self.folder.path}: no space is left, or the folder isn't yours") from None

    @property
    def ended_by_signal(self):
        return self.leave not in (None, BUDGET, JOB_TIME)

    def resume_command(self):
        return launch_options.resume_command(PROGRAM, self.folder.path, self.options.kept)

    def is_measured(self, step):
        return os.path.exists(self.folder.launch_file(step))

    def _run(self, job_left_s):
        options = self.options
        versions = suite_folder.versions_of(self.plan.programs, list(options.launchers.values()))
        self.folder.lock()
        try:
            self.folder.begin(self.plan, versions, options.hosts)
        except Failure:
            begun = launch_options.options_of(self.folder.path, KEPT)
            if begun not in (None, options.kept):
                say(f"With its own options: {launch_options.resume_command(PROGRAM, self.folder.path, begun)}")
            raise
        self._note_call()
        self.signals = launch_processes.Signals()
        self._clean_up()
        self.begin_s = time.monotonic()
        for seconds, reason in ((options.budget, BUDGET), (job_left_s and job_left_s - JOB_END_S, JOB_TIME)):
            if seconds is not None and seconds < self.time_s:
                self.time_s, self.ended_by = seconds, reason
        say(self.what)
        say(f"Results: {self.folder.path}")
        left = self.time_left(0)
        if any(map(self.is_measured, self.plan.steps)):
            say("Resuming: some launches have their result")
        if self.time_s < left:
            limit = duration_text(max(0, self.time_s))
            say(f"This takes about {duration_text(left)}, more than {self.ended_by} of {limit}")
        else:
            say(f"This takes about {duration_text(left)}")
        if options.essentials and launch_conditions.is_busy():
            say("Other programs use this machine's processors, so results will be noisy: end them and start again")
        (_, build), launcher = next(iter(options.launchers.items()))
        self.facts = launch_conditions.read_facts(self.folder, build or options.build, launcher, self.job, self.signals)
        self._launch_all()
        is_merged = self._merge_all()
        self._write_summary(self.folder.path)
        return self._conclude(is_merged)

    def _note_call(self):
        """Records the call, and the script that repeats the suite with its current number of runs."""
        kept = self.options.kept
        others = quoted([word for word in kept if not word.startswith("--build=")])
        build = quoted([f"--build={self.options.build}"])
        run_suite = quoted([os.path.join(TOP, "run_scripts/run_suite.sh")])
        self.folder.replace("run_again.sh", f"""#!/bin/sh
# Runs this suite again; more options are those of run_suite.sh, such as --output=FOLDER.
set -eu
. "$(dirname "$0")/environment"
exec sh {run_suite} \\
    {others} {build} "$@"
""")
        os.chmod(self.folder.suite_file("run_again.sh"), 0o755)
        self.folder.replace("options", "".join(word + "\n" for word in kept))
        if any(step.setting for step in self.plan.steps):
            settings = {step.name: step.setting for step in self.plan.steps}
            self.folder.replace("settings", "".join(f"{name}\t{setting}\n" for name, setting in settings.items()))
        remove(self.folder.suite_file("complete"))
        job = os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_JOBID") or "NA"
        self.folder.append("calls", f"{now()} host {os.uname().nodename} process {os.getpid()} "
                                    f"job {job}: run_suite.sh {quoted(self.argv)}\n")

    def _clean_up(self):
        """Ends launches of a killed suite, which would disturb this one. Marks launches for repetition whose results
        are no longer complete, such as truncated copies."""
        for process in launch_processes.left_behind(os.path.join(self.folder.path, "runs")):
            say(f"Ending process {process} of an earlier run_suite.sh")
            launch_processes.end(process)
        for step in filter(self.is_measured, self.plan.steps):
            file = self.folder.launch_file(step)
            if suite_folder.verdict(file) not in WHOLE:
                say(f"{file} is incomplete: measuring it again")
                os.replace(file, file + ".failed")

    @property
    def elapsed_s(self):
        return time.monotonic() - self.begin_s

    def time_left(self, first):
        """Returns the seconds that launches from number `first` on will take, except those that have a result."""
        return int(0.5 + sum(step.seconds for step in self.plan.steps[first:] if not self.is_measured(step)))


    def _launch_all(self):
        run = None
        for number, step in enumerate(self.plan.steps):
            if self.is_measured(step):
                continue
            if step.run != run:
                if run is not None:
                    self._merge_all()
                run = step.run
                os.makedirs(os.path.dirname(self.folder.launch_file(step)), exist_ok=True)
            self.signals.look()
            if self.signals.last is None:
                self._launch(number, step)
            else:
                self.leave = self.signals.last.name
            if self.leave is not None:
                return

    def _launch(self, number, step):
        """Runs one launch. Sets `leave` if the suite must end."""
        options, file = self.options, self.folder.launch_file(step)
        one_s = int(0.5 + step.seconds)
        left_s = self.time_s - int(self.elapsed_s)
        if one_s >= left_s:
            self.leave = self.ended_by
            return
        limit_s = min(options.limit or 600 + 20 * one_s, left_s)
        width = len(str(self.total))
        say(f"[{number + 1:{width}}/{self.total}] run {step.run} of {options.runs}: {step.name:<28} "
            f"{duration_text(self.elapsed_s):>6} so far, about {duration_text(self.time_left(number))} left")
        remove(file + ".failed")
        begin, seconds, status, result = self.folder.launch(step, limit_s, self.signals, options.verbose)
        seconds = int(0.5 + seconds)
        was_ended = status in (launch_processes.TIMED_OUT, launch_processes.KILLED)
        timed_out = was_ended and seconds >= limit_s and result not in WHOLE
        if status is None:
            self.leave = self.signals.last.name
        elif timed_out and limit_s == left_s:
            self.leave = self.ended_by
        elif result == "interrupted" and not timed_out:
            # This script got no signal.
            self.leave = "a signal that somebody sent the program"
        if self.leave is not None:
            self.folder.record(step, begin, seconds, "NA" if status is None else status, suite_folder.UNFINISHED)
            remove(file + ".part")
            return
        if timed_out:
            result = "failed"
            say(f"{step.name} took longer than {limit_s} s (--limit)")
        elif result == "done" and status != 0:
            # For example, MPI_Finalize doesn't return.
            say(f"{step.name}: the result is complete, but the launch ended with exit status {status}: "
                f"see {self.folder.log_file(step)}")
        # Recorded before the result is moved: a launch killed in between is measured and recorded again, and its last
        # record is valid.
        self.folder.record(step, begin, seconds, status, result)
        self._keep(step, status, result)

    def _keep(self, step, status, result):
        """Moves a launch's result to its final path."""
        file, log = self.folder.launch_file(step), self.folder.log_file(step)
        part = file + ".part"
        if result == "failed":
            if os.path.exists(part):
                os.replace(part, file + ".failed")
            say(f"{step.name} failed with exit status {status}. The end of {log}:")
            for line in lines_of(log)[-12:]:
                say("    " + line)
            return
        launch_conditions.add_facts(part, self.facts)
        os.replace(part, file)
        if result == "wrong":
            say(f"{step.name} found wrong data: see the rows with FAIL in {file}")

    def _merge_all(self):
        """Merges the launches of each program. True if all could be merged."""
        if not os.path.isdir(self.folder.suite):
            raise OSError("the folder was removed")
        is_merged = True
        for entry in dict.fromkeys(step.entry for step in self.plan.steps):
            try:
                self.folder.merge(self.plan, entry)
            except (OSError, ValueError, UsageError) as error:
                if not isinstance(error, OSError):
                    say(str(error))
                say(f"Could not merge the launches of {entry}")
                is_merged = False
        return is_merged

    def _conclude(self, is_merged):
        """Prints the outcome. Returns the exit status."""
        results = self.folder.results(self.plan)
        by_result = {result: [f"{name} (run {run})" for (run, name), other in results.items()
                              if other == result] for result in ("done", "wrong", "failed", None)}
        have = f"{len(by_result['done'] + by_result['wrong'])} of {self.total} launches have their result"
        without = len({name for _, name in results} -
                      {name for (_, name), result in results.items() if result in WHOLE})
        for result, what in (("wrong", "Wrong data"), ("failed", "Failed")):
            if by_result[result]:
                say(f"{what}: {' '.join(by_result[result])}")
        again = self.resume_command()
        if self.leave is None:
            self.folder.replace("complete", now() + "\n")
            say(f"Done in {duration_text(self.elapsed_s)}: {have}: {self.folder.path}")
            if by_result["done"] or by_result["wrong"]:
                say(f"To read it: {shell_command(script('report_text.sh'), '--short', self.folder.path)}")
                say(f"To make a page: {shell_command(script('report.sh'), self.folder.path)}")
            if by_result["failed"]:
                say(f"To repeat failed launches: {again}")
        elif self.leave == BUDGET:
            say(f"The budget is used up: {have}. To resume: {again}")
            if without:
                say(f"{counted(without, 'program')} without a result")
        else:
            say(f"Ended by {self.leave}: {have}. To resume: {again}")
            return EXIT_TO_RESUME if self.leave in (JOB_TIME, "SIGUSR1") else command.EXIT_FAILED
        return int(bool(not is_merged or by_result["wrong"] or by_result["failed"] or without))
