"""run_suite.sh: runs the benchmarks, all or some, several times in turn, and puts the results together."""

import argparse
import math
import os
import time

from commcost import command
from commcost.command import Failure, UsageError, say
from commcost.result import summary_table
from commcost.result.result_reader import Result, ResultError
from commcost.suite import launch_options, launch_processes, launchers, processor_count, suite_folder, suite_plan
from commcost.suite.launch_options import count, duration, names_any, text
from commcost.suite.suite_folder import WHOLE
from commcost.system import TOP, lines_of, now, quoted, remove, replace_file, script, to_paste
from commcost.words import counted, in_words

PROGRAM = "run_suite.sh"
# The options that make results what they are, in the order in which they are kept.
KEPT = ("build", "benchmarks", "runs", "quick", "essentials", "options", "vary", "limit", *launch_options.KEPT_PLACE)
OWN = ("--output", "--format", "--columns", "--metadata", "--no-metadata", "--no-header", "--nohdr")  # the suite's
LOAD = 0.1  # of the processors' time, from which on quickstart says that other programs are at work
ESTIMATE_S = 5.0  # damps what the first few launches say of all
BUDGET, JOB_TIME = "the budget", "the job's time"  # reasons to end
JOB_END_S = 30  # before Slurm ends the job: ending a launch takes 10 s at most, results are merged, the job is requeued
EXIT_TO_RESUME = 3


# ---- options -------------------------------------------------------------------------------------

def parser():
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]...",
        """Runs every benchmark, or those chosen, as many times as --runs says, in turn:
all of them, then all again, each time with a new mpirun, since launches differ
by more than one launch shows. Says first how long that will take.

FOLDER/NAME.tsv has the rows of all launches, with a first column run;
FOLDER/summary.tsv has one row a quantity of all benchmarks, for spreadsheets;
FOLDER/runs/N/NAME.tsv what each launch wrote, and NAME.log what it said
besides; FOLDER/suite/ what it takes to run the suite again: run_again.sh,
plan.tsv, versions, environment, topology, hosts, and launches.tsv with the time
each took.

SIGINT and SIGTERM end the launch in hand, SIGUSR1 lets it finish; then the
suite ends, and the same command resumes it. In a Slurm job the suite
ends before the job's time is up.

Exit status: 0 done, or the budget is used up and there is a result of each; 1
a launch failed, found wrong data, or was not reached; 2 wrong usage; 3 SIGUSR1,
or the job's time is nearly up: resume it.""",
        allow_abbrev=False)
    made.add_argument("-v", "--verbose", action="store_true", help="print each command when it runs")
    group = made.add_argument_group("What to run")
    add = group.add_argument
    add("--benchmarks", metavar="LIST", type=text, default="all", help="names and groups, with commas "
        "(default: all). Names: overlap_COLLECTIVE, overlap_COLLECTIVE_sweep, of messages "
        "overlap_isend_sweep and so on, overlap_halo_sweep, msgrate, msgrate_warm, msgrate_rma, pingpong, syncbench, "
        "halo, collective, mpi_overhead, monitor_overhead, noise, linkmap. Groups: overlap, rate, monitor, all")
    add("--runs", metavar="N", type=count, help="launches of each (default: 6, from which on there are "
        "intervals over launches; with --quick 1). A comparison of two versions wants 10")
    shorter = group.add_mutually_exclusive_group()
    shorter.add_argument("--quick", action="store_true", help="shorter launches, one of each: 2 to 3 minutes")
    shorter.add_argument("--essentials", action="store_true", help="what quickstart.sh measures: the programs "
        "that answer the first questions, in short launches, 6 of each: 2 minutes")
    add("--options", metavar="'WHO: ...'", type=program_options, action="append", default=[],
        help="more options for a name, a group or all, for example --options='halo: --local=10,50'; may be repeated")
    add("--vary", metavar="'NAME=A,B'", type=varied, action="append", default=[], help="launches of each "
        "in turn with a variable of the environment set to A, to B and so on (values that have commas: "
        "with ; between them; an empty value: not set, as in NAME=,A); build:FOLDER,FOLDER and "
        "launcher:WHICH,WHICH vary these. May be repeated: "
        "all combinations. Results have a column setting, and the report says by row which is best")
    add("--budget", metavar="TIME", type=duration, help="time for this call (90, 30m, 2h, 1:30:00). A "
        "launch that wouldn't end in it isn't started, one that doesn't is ended and forgotten; no "
        "result has half its rows")
    add("--limit", metavar="TIME", type=launch_options.limit, help="for each launch, after which it has failed "
        "(default: 10 minutes and 20 times what it should take)")
    add = launch_options.add_shared(made, "DATE_TIME", "; --hosts, --vary, and --options that name a file. More --runs than "
                               "before are added", metavar="N", type=count, help=launch_options.RANKS_HELP)
    add("--dry-run", action="store_true", help="print the commands of launches without a result, and "
        "how long they will take")
    return made


def varied(value):
    """Refuses what is no line; paths become absolute, as those of --build and --launcher."""
    name, colon, values = text(value).partition(":")
    absolute = {"build": os.path.abspath, "launcher": launchers.absolute}.get(name)
    if not absolute:
        return value
    sign = ";" if ";" in values else ","
    return name + colon + sign.join(one and absolute(one) for one in values.split(sign))


def program_options(value):
    """Refuses what is the suite's own: without metadata a result doesn't say that it is complete. Behind a
    colon launchers look for another program."""
    who, colon, words = text(value).partition(":")
    words = words.split()
    if not colon or ":" in words:
        raise argparse.ArgumentTypeError(f"'{value:.200}': use 'NAME: --option ...', with one colon")
    # Overlap programs have an option --form.
    if names_any([word for word in words if not (who.startswith("overlap") and word.split("=")[0] == "--form")], OWN):
        raise argparse.ArgumentTypeError(f"'{value:.200}': --output, --format, --columns, --metadata, "
                                         "--no-metadata, --no-header and --nohdr are the suite's own")
    # The same by short options; -n is another one in other programs.
    short = "-n" if "mpi_overhead" in who else "-o" if who.startswith("msgrate") else None
    if short and any(word.startswith(short) for word in words):
        raise argparse.ArgumentTypeError(f"'{value:.200}': what leaves out the header is the suite's own")
    return value


def read_options(words):
    options = launch_options.parsed(parser(), KEPT, words)
    options.suite = "quick" if options.quick else "essentials" if options.essentials else "full"
    options.runs = options.runs or (1 if options.quick else 6)
    launch_options.fill_in(options)
    return options


class Suite:
    """A suite in its folder, from the plan to its end."""

    def __init__(self, options, made, job, argv, opened):
        self.options, self.plan, self.argv, self._opened = options, made, argv, opened
        self.total = len(made.steps)
        settings = len({step.setting for step in made.steps})
        varied = f" in {settings} settings" if settings > 1 else ""
        programs = counted(len({step.entry for step in made.steps}), "program")
        what = (f"{programs}, each launched {options.runs} times{varied}" if options.runs > 1 or varied else
                "one of each program")
        self.what = f"{counted(self.total, 'launch', 'launches')}: {what}, with {job.ranks} ranks"
        self.folder = suite_folder.Folder(os.path.abspath(options.output), options.is_new)
        self.signals, self.begin_s = None, 0.0
        self.time_s, self.ended_by = math.inf, None  # seconds for this call, and what ends it then
        self.leave = None  # BUDGET, JOB_TIME, or a signal's name

    def dry_run(self):
        """Prints the launches that there is no result of yet, and how long they will take."""
        self.folder.check()
        self.folder.claim()
        left = [(step, line) for step, line in zip(self.plan.steps, self.plan.lines[1:]) if not self.is_measured(step)]
        some = f"; {self.total - len(left)} were measured before" if len(left) < self.total else ""
        seconds = sum(step.seconds for step, _ in left)
        print(f"# {self.what}{some}; about {in_words(seconds)}", *(line for _, line in left), sep="\n")

    def run(self):
        """Returns the exit status. Failure where the folder can't be used."""
        path = self.options.output
        try:
            self.folder.check()
            self.folder.make()
        except OSError:
            raise Failure(f"cannot make the folder {path}: use --output=FOLDER, where you may write") from None
        try:
            return self._run()
        except OSError:
            say(f"To resume: {self.resuming()}")
            raise Failure(f"cannot write in {self.folder.path}: no space is left, it was removed, or it "
                          "isn't yours. What is there is whole") from None

    @property
    def ended_by_signal(self):
        return self.leave not in (None, BUDGET, JOB_TIME)

    def resuming(self):
        """The command that resumes it."""
        return launch_options.going_on(PROGRAM, self.folder.path, self.options.kept)

    def is_measured(self, step):
        return os.path.exists(self.folder.launch_file(step))

    def _run(self):
        options, versions = self.options, suite_folder.versions_of(self.plan.programs, list(self.options.launchers.values()))
        self.folder.lock()
        try:
            self.folder.begin(self.plan, versions, options.hosts)
        except Failure:
            begun = launch_options.begun_with(self.folder.path, KEPT)
            if begun not in (None, options.kept):
                say(f"With its own options: {launch_options.going_on(PROGRAM, self.folder.path, begun)}")
            raise
        self._note_call()
        self.signals = launch_processes.Signals()
        self._clean_up()
        self.begin_s = time.monotonic()
        job_left_s = launchers.slurm_time_left_s()
        for seconds, reason in ((options.budget, BUDGET), (job_left_s and job_left_s - JOB_END_S, JOB_TIME)):
            if seconds is not None and seconds < self.time_s:
                self.time_s, self.ended_by = seconds, reason
        say(f"{self.what}; results go to {self.folder.path}")
        left = self.time_left(0)
        if any(map(self.is_measured, self.plan.steps)):
            say("Some were measured before")
        if self.time_s < left:
            say(f"That would take about {in_words(left)}; {self.ended_by} is {in_words(max(0, self.time_s))}")
        else:
            say(f"This will take about {in_words(left)}")
        if options.essentials and (processor_count.load() or 0) > LOAD:
            say("Other programs are at work on this machine: results will be noisy; end them and start again")
        self._launch_all()
        is_merged = self._merge_all()
        try:
            text, _ = summary_table.summarize([self.folder.path], opened=self._opened)
            replace_file(os.path.join(self.folder.path, "summary.tsv"), text)
        except (ResultError, OSError):
            pass  # there is nothing to be put together, or no space: the results say so
        return self._conclude(is_merged)

    def _note_call(self):
        """How the suite was called, and the script that runs it again with as many runs as it has by now."""
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
        os.chmod(self.folder.of_suite("run_again.sh"), 0o755)
        self.folder.replace("options", "".join(word + "\n" for word in kept))
        if any(step.setting for step in self.plan.steps):
            settings = {step.name: step.setting for step in self.plan.steps}
            self.folder.replace("settings", "".join(f"{name}\t{setting}\n" for name, setting in settings.items()))
        remove(self.folder.of_suite("complete"))
        job = os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_JOBID") or "NA"
        self.folder.append("calls", f"{now()} host {os.uname().nodename} process {os.getpid()} "
                                    f"job {job}: run_suite.sh {quoted(self.argv)}\n")

    def _clean_up(self):
        """A suite that was killed leaves its launch behind, which would disturb this one. A result that isn't
        whole any more, as after a copy that was cut off, is measured again."""
        for process in launch_processes.left_behind(os.path.join(self.folder.path, "runs")):
            say(f"Ending process {process}, which an earlier run_suite.sh left")
            launch_processes.end(process)
        for step in filter(self.is_measured, self.plan.steps):
            file = self.folder.launch_file(step)
            if suite_folder.verdict(file) not in WHOLE:
                say(f"{file} isn't whole: measured again")
                os.replace(file, file + ".failed")

    @property
    def elapsed_s(self):
        return time.monotonic() - self.begin_s

    def _estimates(self):
        """What a launch of each name takes: what one took last, else what the list says, times what
        others took for what it says of them."""
        expected = {step.name: step.seconds for step in self.plan.steps}
        took = {name: seconds for _, name, seconds, result in self.folder.records() if result in WHOLE}
        known = [name for name in took if name in expected]
        ratio = ((sum(took[name] for name in known) + ESTIMATE_S) /
                 (sum(expected[name] for name in known) + ESTIMATE_S))
        return {name: min(took.get(name, ratio * seconds), 1e7) for name, seconds in expected.items()}

    def time_left(self, first):
        """Seconds that the launches from number `first` of the plan on will take, less those that have their result."""
        estimates = self._estimates()
        return int(0.5 + sum(estimates[step.name] for step in self.plan.steps[first:] if not self.is_measured(step)))

    # ---- launches --------------------------------------------------------------------------------

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
        """One launch; sets `leave` where the suite is to end."""
        options, file = self.options, self.folder.launch_file(step)
        one_s = int(0.5 + self._estimates()[step.name])
        left_s = self.time_s - int(self.elapsed_s)
        if one_s >= left_s:
            self.leave = self.ended_by
            return
        limit_s = min(options.limit or 600 + 20 * one_s, left_s)
        width = len(str(self.total))
        say(f"[{number + 1:{width}}/{self.total}] run {step.run} of {options.runs}: {step.name:<28} "
            f"{in_words(self.elapsed_s):>6} so far, about {in_words(self.time_left(number))} left")
        remove(file + ".failed")
        begin, seconds, status, result = self.folder.launch(step, limit_s, self.signals, options.verbose)
        seconds = int(0.5 + seconds)
        timed_out = status in (launch_processes.TIMED_OUT, launch_processes.KILLED) and seconds >= limit_s and result not in WHOLE
        if status is None:
            self.leave = self.signals.last.name
        elif timed_out and limit_s == left_s:
            self.leave = self.ended_by
        elif result == "interrupted" and not timed_out:
            # By somebody who told the programs but not this script.
            self.leave = "a signal to the program"
        if self.leave is not None:
            self.folder.record(step, begin, seconds, "NA" if status is None else status, suite_folder.UNFINISHED)
            remove(file + ".part")
            return
        if timed_out:
            result = "failed"
            say(f"{step.name} took longer than {limit_s} s (--limit)")
        elif result == "done" and status != 0:
            # Such as MPI_Finalize that doesn't end.
            say(f"{step.name}: the result is complete and counts, but the launch then ended with "
                f"exit status {status} after {seconds} s: see {self.folder.log_file(step)}")
        # Recorded before it counts as finished: what is killed in between is measured and recorded
        # once more, and the last record holds.
        self.folder.record(step, begin, seconds, status, result)
        self._keep(step, status, result)

    def _keep(self, step, status, result):
        """Puts what a launch wrote where it belongs."""
        file, log = self.folder.launch_file(step), self.folder.log_file(step)
        part = file + ".part"
        if result == "failed":
            if os.path.exists(part):
                os.replace(part, file + ".failed")
            say(f"{step.name} failed with exit status {status}; {log} ends with:")
            for line in lines_of(log)[-12:]:
                say("    " + line)
            return
        os.replace(part, file)
        if result == "wrong":
            say(f"{step.name} found wrong data: see the rows with FAIL in {file}")

    def _merge_all(self):
        """Whether all launches of each program could be put together."""
        if not os.path.isdir(self.folder.suite):
            raise OSError("the folder was removed")
        is_merged = True
        for entry in dict.fromkeys(step.entry for step in self.plan.steps):
            try:
                self.folder.merge(self.plan, entry)
            except (OSError, ValueError, ResultError) as error:
                if not isinstance(error, OSError):
                    say(str(error))
                say(f"Could not put together the launches of {entry}")
                is_merged = False
        return is_merged

    def _conclude(self, is_merged):
        """Says what came of it; returns the exit status."""
        results = self.folder.results(self.plan)
        by_result = {result: [f"{name} (run {run})" for (run, name), other in results.items()
                              if other == result] for result in ("done", "wrong", "failed", None)}
        have = f"{len(by_result['done'] + by_result['wrong'])} of {self.total} launches have their result"
        without = len({name for _, name in results} -
                      {name for (_, name), result in results.items() if result in WHOLE})
        for result, what in (("wrong", "Wrong data"), ("failed", "Failed")):
            if by_result[result]:
                say(f"{what}: {' '.join(by_result[result])}")
        again = self.resuming()
        if self.leave is None:
            self.folder.replace("complete", now() + "\n")
            say(f"Done in {in_words(self.elapsed_s)}: {have}: {self.folder.path}")
            say(f"To read it: {to_paste(script('report_text.sh'), '--short', self.folder.path)}")
            say(f"To make a page: {to_paste(script('report.sh'), self.folder.path)}")
            if by_result["failed"]:
                say(f"To try again what failed: {again}")
        elif self.leave == BUDGET:
            say(f"The budget is used up: {have}, {len(by_result[None])} are left. To resume: {again}")
            if without:
                say(f"There is no result of {without} programs yet")
        else:
            say(f"Ended by {self.leave}: {have}. To resume: {again}")
            return EXIT_TO_RESUME if self.leave in (JOB_TIME, "SIGUSR1") else command.EXIT_FAILED
        return int(bool(not is_merged or by_result["wrong"] or by_result["failed"] or without))


def main(argv):
    return run_suite(argv)[1]


def run_suite(argv, opened=Result):
    """Runs a suite with these options: the Suite, and the exit status. `opened` opens results, for the summary."""
    options = read_options(argv)
    settings = suite_plan.settings_of(options.vary)
    asked = dict.fromkeys((setting.launcher, setting.build) for setting in settings)
    options.launchers = {(name, build): launchers.find(name or options.launcher, build or options.build)
                         for name, build in asked}
    ranks = options.ranks or launchers.default_ranks(options.hosts, options.ranks_per_node)
    if ranks < 2:
        raise UsageError("--ranks: the benchmarks need at least 2")
    has_threads = any(launchers.progresses_asynchronously({**os.environ, **setting.variables}) for setting in settings)
    job = launchers.Job(ranks, options.ranks_per_node, options.hosts, options.bind, has_threads)
    made = suite_plan.make_plan(options, job, settings)
    if made.missing:
        say("Left out, since not built: " + " ".join(made.missing))
    suite = Suite(options, made, job, argv, opened)
    if options.dry_run:
        suite.dry_run()
        return suite, command.EXIT_DONE
    return suite, suite.run()
