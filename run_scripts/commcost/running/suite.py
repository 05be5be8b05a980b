"""run_suite.sh: runs the benchmarks, all or some, several times in turn, and puts the results
together."""

import datetime
import os
import re
import shlex
import sys
import time
import typing

from commcost import command
from commcost.reading import summarize
from commcost.running import folder, launchers, plan, processes
from commcost.command import UsageError, complain
from commcost.reading.results import ResultError
from commcost.words import counted
from commcost.system import TOP, remove, replace_file

PROGRAM = "run_suite.sh"

HELP = """usage: run_suite.sh [OPTION]...

Runs every benchmark, or those chosen, as many times as --runs says, in turn: all of
them, then all again, each time with a new mpirun, since launches differ by more
than one launch shows. Says first how long that will take.

What to run
  --benchmarks=LIST     names and groups, with commas (default: all). Names:
                        overlap_COLLECTIVE, overlap_COLLECTIVE_sweep, of messages
                        overlap_isend_sweep and so on, overlap_halo_sweep, msgrate,
                        msgrate_rma, pingpong, syncbench, halo, mpi_overhead,
                        monitor_overhead, noise, linkmap. Groups: overlap, rate,
                        monitor, all
  --runs=N              launches of each (default: 6, from which on there are
                        intervals over launches; with --quick 1). A comparison of
                        two versions wants 10
  --quick               shorter launches: all of it in 2 to 3 minutes
  --options='WHO: ...'  more options for a name, a group or all, for example
                        --options='halo: --local=10,50'; may be repeated
  --vary='NAME=A,B'     launches of each in turn with a variable of the environment
                        set to A, to B and so on (values that have commas: with ;
                        between them); build:FOLDER,FOLDER and
                        launcher:WHICH,WHICH vary these. May be repeated: all
                        combinations. Results have a column setting, and the report
                        says by row which is best
  --budget=TIME         time for this call (90, 30m, 2h, 1:30:00). A launch that
                        wouldn't end in it isn't started, one that doesn't is ended
                        and forgotten; no result has half its rows
  --limit=TIME          for each launch, after which it has failed (default: 10
                        minutes and 20 times what it should take)

Where to run
  --launcher=WHICH      hydra, openmpi, srun, or a command with words, like
                        'srun --mpi=pmi2'. One that is none of these three needs
                        {ranks}, and may have {ranks_per_node}, {nodes}, {hosts},
                        {bind}: 'aprun -n {ranks} -N {ranks_per_node}'. Default: srun in a
                        Slurm job, else the mpirun that goes with the build
  --ranks=N             default: Slurm's tasks, PBS's slots, all of the hosts, or
                        this machine's cores (2 to 8; hardware threads of one
                        core count once), or fewer where a control group's quota
                        gives less time
  --ranks-per-node=N
  --hosts=LIST          with commas
  --bind=TO             core, socket, none (as the launcher binds by itself), or what
                        the launcher takes. Default, but for srun and launchers with
                        words: a core for each thread of a rank, where there are as
                        many and the MPI library has no threads of its own
  --build=FOLDER        default: build

Where results go
  --output=FOLDER       default: results/DATE_TIME. A folder of the same suite that
                        was not finished is gone on with: what is there isn't
                        measured again, what was cut off is. More --runs than before
                        add to it; any other difference is refused
  --resume=FOLDER       the same, with the options that it was begun with. What could
                        lead elsewhere is to be given again: --build, unless it is
                        the default; --launcher, unless it is hydra, openmpi, srun or
                        the build's own; --hosts, --vary, and --options that name a
                        file
  --dry-run             print the commands of launches without a result, and how long
                        they will take
  -v, --verbose         print each command when it runs
  -h, --help

FOLDER/NAME.tsv has the rows of all launches, with a first column run;
FOLDER/summary.tsv has one row a quantity of all benchmarks, for spreadsheets;
FOLDER/runs/N/NAME.tsv what each launch wrote, and NAME.log what it said besides;
FOLDER/suite/ what it takes to run the suite again: run_again.sh, plan.tsv, versions,
environment, topology, hosts, and launches.tsv with the time each took.

SIGINT and SIGTERM end the launch in hand, SIGUSR1 lets it end by itself; then
the suite ends, and the same command goes on with it.

Exit status: 0 done, or the budget is used up and there is a result of each; 1
a launch failed, found wrong data, or was not reached; 2 wrong usage.
"""

# Options with values, in the order in which they are kept.
VALUED = ("benchmarks", "runs", "options", "vary", "budget", "limit", "launcher", "ranks",
          "ranks-per-node", "hosts", "bind", "build", "output", "resume")
REPEATED = ("options", "vary")
OF_ONE_CALL = ("output", "resume", "budget", "dry-run", "verbose")
OF_FILES = ("--dump-samples", "--exclude")  # of programs, which write a file
HELP_SAYS = "(--help says more)"
ESTIMATE_S = 5.0  # damps what the first few launches say of all


class Failure(Exception):
    """What ends the suite with exit status 1: one line."""


class Options(typing.NamedTuple):
    """What the options say, checked."""

    benchmarks: str
    runs: int
    quick: bool
    options: list
    vary: list
    budget_s: typing.Optional[int]
    limit_s: typing.Optional[int]
    launcher: str    # as it was given
    launchers: dict  # by a setting's launcher and build: a Launcher
    ranks: typing.Optional[int]
    ranks_per_node: typing.Optional[int]
    hosts: str
    bind: str
    build: str
    results: str     # "": a new folder
    dry_run: bool
    verbose: bool
    kept: list       # the options that make the suite what it is, as words


# ---- options -------------------------------------------------------------------------------------

def words_of(argv):
    """Pairs of an option's name, without dashes, and its value, None for a flag."""
    pairs, argv = [], list(argv)
    while argv:
        word = argv.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            sys.stdout.write(HELP)
            sys.exit(command.EXIT_DONE)
        name = "verbose" if name == "-v" else name[2:] if name.startswith("--") else ""
        if name not in (*VALUED, "quick", "dry-run", "verbose"):
            raise UsageError(f"'{word:.200}' is no option {HELP_SAYS}")
        if name in VALUED:
            if not equals and argv:
                value = argv.pop(0)
            if not value:
                raise UsageError(f"--{name} needs a value {HELP_SAYS}")
        elif equals:
            raise UsageError(f"--{name}: takes no value")
        if has_controls(value):
            raise UsageError(f"--{name}: no tabs, line breaks or other control characters")
        pairs.append((name, value if name in VALUED else None))
    return pairs


def has_controls(text):
    return re.search(f"[{command.CONTROLS}]", text) is not None


def word_of(name, value):
    return f"--{name}" if value is None else f"--{name}={value}"


def count_of(name, text):
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise UsageError(f"--{name}: '{text:.200}': use a whole number from 1")
    return int(text)


def seconds_of(name, text):
    """90, 90s, 30m, 2h or 1:30:00 in seconds."""
    found = re.fullmatch("([0-9]+)([smh]?)|([0-9]+):([0-9][0-9]):([0-9][0-9])", text)
    seconds = 0
    if found and found.group(1):
        seconds = int(found.group(1)) * {"": 1, "s": 1, "m": 60, "h": 3600}[found.group(2)]
    elif found:
        seconds = sum(int(part) * unit for part, unit in zip(found.groups()[2:], (3600, 60, 1)))
    if not found or seconds > 1e9:
        raise UsageError(f"--{name}: '{text:.200}': use a time like 90, 30m, 2h or 1:30:00")
    return seconds


def check_program_options(text):
    """Refuses what is the suite's own: without metadata a result doesn't say that it is complete. Behind a
    colon launchers look for another program."""
    who, colon, words = text.partition(":")
    words = words.split()
    if not colon or ":" in words:
        raise UsageError(f"--options: '{text:.200}': use 'NAME: --option ...', with one colon")
    words = " ".join(words)
    # Abbreviated, too; syncbench has an --outer, and overlap programs a --form.
    own = r" --outp| --out?[= ]| --o[= ]| --no-h| --no-m| --noh| --f(o|or)?[= ]| --forma"
    if not who.startswith("overlap"):
        own += "| --form[= ]"
    if re.search(own, f" {words} "):
        raise UsageError(f"--options: '{text:.200}': --output, --format, --no-header, "
                         "--no-metadata and --nohdr are the suite's own")
    # The same by short options; -n is another one in other programs.
    if ("mpi_overhead" in who and " -n" in f" {words}") or (
            who.startswith("msgrate") and " -o" in f" {words}"):
        raise UsageError(f"--options: '{text:.200}': what leaves out the header is the suite's own")


def read_options(argv):
    """The Options of a call, with those of the folder that it resumes before them."""
    pairs = words_of(argv)
    resumed = next((value for name, value in reversed(pairs) if name == "resume"), None)
    if resumed is not None:
        pairs = resumed_pairs(resumed, pairs) + pairs
    said = {name: value for name, value in pairs}
    several = {name: [value for other, value in pairs if other == name] for name in REPEATED}
    for text in several["options"]:
        check_program_options(text)
    build = said.get("build")
    if build is not None and not os.path.isdir(build):
        raise UsageError(f"--build: no folder '{build:.200}'")
    pairs = [(name, os.path.abspath(value) if name == "build" else value)
             for name, value in pairs]
    quick = "quick" in said
    limit_s = seconds_of("limit", said["limit"]) if "limit" in said else None
    if limit_s == 0:
        raise UsageError("--limit: '0': use a time like 90, 30m, 2h or 1:30:00")
    return Options(
        benchmarks=said.get("benchmarks", "all"),
        runs=count_of("runs", said["runs"]) if "runs" in said else 1 if quick else 6,
        quick=quick, options=several["options"], vary=several["vary"],
        budget_s=seconds_of("budget", said["budget"]) if "budget" in said else None,
        limit_s=limit_s, launcher=said.get("launcher", ""), launchers={},
        ranks=count_of("ranks", said["ranks"]) if "ranks" in said else None,
        ranks_per_node=(count_of("ranks-per-node", said["ranks-per-node"])
                        if "ranks-per-node" in said else None),
        hosts=said.get("hosts", ""), bind=said.get("bind", ""),
        build=os.path.abspath(build) if build else default_build(),
        results=os.path.abspath(resumed) if resumed else said.get("output", ""),
        dry_run="dry-run" in said, verbose="verbose" in said,
        kept=[word_of(name, value) for name, value in pairs if name not in OF_ONE_CALL])


def own_build():
    """The tree's, or as installed, in share/commcost; "" where there is none yet."""
    return next((os.path.abspath(path) for path in (os.path.join(TOP, "build"),
                                                    os.path.join(TOP, "../../libexec/commcost"))
                 if os.path.isdir(path)), "")


def default_build():
    if not own_build():
        raise Failure(f"no folder {os.path.join(TOP, 'build')}: build first, or use --build=FOLDER")
    return own_build()


def resumed_pairs(path, given):
    """The options that a folder's suite was begun with, but for those that are given again. They are
    text from somebody's folder, a line each: what could lead elsewhere is refused."""
    if not os.path.isdir(path):
        raise UsageError(f"--resume: no folder '{path:.200}'")
    there = folder.Folder(os.path.abspath(path))
    there.check()
    lines = there.read("options").splitlines()
    if not lines:
        raise UsageError(f"--resume: no suite was begun in '{path:.200}'")
    named = dict(given)
    build = named.get("build") or own_build()
    pairs = []
    for line in lines:
        name, equals, value = line[2:].partition("=")
        check_is_option(path, line)
        if is_taken(name, value, build) and (name in REPEATED or name not in named):
            pairs.append((name, value if equals else None))
        elif name not in named:
            raise UsageError(f"--resume: the suite was begun with {plan.quoted([line])}: that is not taken "
                             "from a results folder, give it again")
    return pairs


def check_is_option(path, line):
    name, equals, value = line[2:].partition("=")
    if not line.startswith("--") or has_controls(line) or not (line == "--quick" or (
            name in VALUED and name not in OF_ONE_CALL and equals and value)):
        raise UsageError(f"--resume: '{path:.200}/suite/options' has a line that is no option of a "
                         f"suite: '{line:.200}'")


def is_taken(name, value, build):
    """Whether --resume takes an option from the results folder: not if it could start a program that
    isn't the build's, lead to another host, or name a file."""
    if name == "build":
        return bool(build) and os.path.realpath(value) == os.path.realpath(build)
    if name == "launcher":
        return value in launchers.NAMES or value == launchers.built_launcher(build)
    if name == "bind":
        return re.fullmatch("[A-Za-z][A-Za-z0-9_.,:=-]*", value) is not None
    if name == "options":
        return not names_a_file(value)
    return name in ("benchmarks", "runs", "quick", "limit", "ranks", "ranks-per-node")


def names_a_file(text):
    """Whether options of a program have one, abbreviated, too, that names a file to write."""
    names = [word.split("=")[0] for word in text.partition(":")[2].split()]
    return any(len(name) > 2 and option.startswith(name) for name in names for option in OF_FILES)


# ---- the suite -----------------------------------------------------------------------------------

def in_words(seconds):
    """A time, for people."""
    seconds = int(seconds + 0.5)
    if seconds < 120:
        return f"{seconds} s"
    return f"{(seconds + 30) // 60} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def say(text):
    print(command.plain(text), file=sys.stderr, flush=True)


class Suite:
    """A suite in its folder, from the plan to its end."""

    def __init__(self, options, steps, job, argv):
        self.options, self.plan, self.job, self.argv = options, steps, job, argv
        self.total = len(steps.steps)
        launches = counted(self.total, "launch", "launches")
        programs = counted(len({step.entry for step in steps.steps}), "program")
        settings = len({step.setting for step in steps.steps})
        varied = f" in {settings} settings" if settings > 1 else ""
        what = (f"{programs}, each launched {options.runs} times{varied}, with "
                if options.runs > 1 or varied else "one of each program, with ")
        self.what = f"{launches}: {what}{job.ranks} ranks"
        self.signals, self.folder, self.begin_s = None, None, 0.0
        self.leave = None  # "budget", or a signal's name
        self.merge_failed = False

    def dry_run(self):
        """Prints the launches that there is no result of yet, and how long they will take."""
        path = self.options.results
        there = folder.Folder(os.path.abspath(path)) if path else None
        if there:
            there.check()
        left = [(step, line) for step, line in zip(self.plan.steps, self.plan.lines[1:])
                if there is None or not os.path.exists(there.launch_file(step))]
        some = f"; {self.total - len(left)} were measured before" if len(left) < self.total else ""
        seconds = sum(step.seconds for step, _ in left)
        print(f"# {self.what}{some}; about {in_words(seconds)}", *(line for _, line in left),
              sep="\n")

    def run(self):
        """Returns the exit status. Failure where the folder can't be used."""
        self._open_folder()
        try:
            return self._run()
        except OSError:
            raise Failure(
                f"cannot write in {self.folder.path}: no space is left, it was removed, or it "
                "isn't yours. What is there is whole; to go on: " + self.resuming()) from None

    def resuming(self):
        """The command that goes on."""
        kept = [word[2:].partition("=") for word in self.options.kept]
        again = [(name, value) for name, _, value in kept if not is_taken(
            name, value, own_build() if name == "build" else self.options.build)]
        return " ".join(["run_suite.sh", *(f"--{name}={plan.quoted([value])}" for name, value in [
            ("resume", self.folder.path), *again])])

    def _open_folder(self):
        path = self.options.results
        if not path:
            # Installed, the tree is not the user's to write to.
            top = TOP if os.path.exists(os.path.join(TOP, "CMakeLists.txt")) else os.getcwd()
            path = os.path.join(top, "results", time.strftime("%Y-%m-%d_%H%M%S"))
        self.folder = folder.Folder(os.path.abspath(path))
        try:
            if not os.path.exists(self.folder.of_suite("plan.tsv")) and os.path.isdir(path) and any(
                    name.endswith(".tsv") for name in os.listdir(path)):
                raise Failure(f"{path} holds results of something else: use another folder")
            self.folder.check()
            self.folder.make()
        except OSError:
            raise Failure(f"cannot make the folder {path}: use --output=FOLDER, where you may "
                          "write") from None

    def _run(self):
        options, versions = self.options, folder.versions_of(
            self.plan.programs, list(self.options.launchers.values()))
        self.folder.lock()
        self.folder.begin(self.plan, versions, options.hosts)
        self._note_call()
        self.signals = processes.Signals()
        self._end_what_was_left()
        self._leave_out_broken()
        self.begin_s = time.monotonic()
        say(f"{self.what}; results go to {self.folder.path}")
        left = self.time_left(0)
        if any(os.path.exists(self.folder.launch_file(step)) for step in self.plan.steps):
            say("Some were measured before")
        if options.budget_s is not None and options.budget_s < left:
            say(f"That would take about {in_words(left)}; the budget is "
                f"{in_words(options.budget_s)}")
        else:
            say(f"This will take about {in_words(left)}")
        self._launch_all()
        self._merge_all()
        self._summarize()
        return self._conclude()

    def _note_call(self):
        """How the suite was called, and the script that runs it again with as many runs as it has
        by now."""
        kept = plan.quoted([word for word in self.options.kept if not word.startswith("--build=")])
        build = plan.quoted([f"--build={self.options.build}"])
        script = plan.quoted([os.path.join(TOP, "run_scripts/run_suite.sh")])
        self.folder.replace("run_again.sh", f"""#!/bin/sh
# Runs this suite again, into a folder that is its argument (default: a new one).
set -eu
case ${{1:-}} in
-*)
    echo "usage: run_again.sh [RESULTS_FOLDER]" >&2
    exit 2
    ;;
esac
. "$(dirname "$0")/environment"
exec sh {script} \\
    {kept} {build} ${{1:+"--output=$1"}}
""")
        os.chmod(self.folder.of_suite("run_again.sh"), 0o755)
        self.folder.replace("options", "".join(word + "\n" for word in self.options.kept))
        remove(self.folder.of_suite("complete"))
        job = os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_JOBID") or "NA"
        self.folder.append("calls", f"{now()} host {os.uname().nodename} process {os.getpid()} "
                                    f"job {job}: run_suite.sh {plan.quoted(self.argv)}\n")

    def _end_what_was_left(self):
        """A suite that was killed leaves its launch behind, which would disturb this one."""
        for process in processes.left_behind(os.path.join(self.folder.path, "runs")):
            say(f"Ending process {process}, which an earlier run_suite.sh left")
            processes.end_group(process)

    def _leave_out_broken(self):
        """A result that isn't whole any more, as after a copy that was cut off, is measured
        again."""
        for step in self.plan.steps:
            file = self.folder.launch_file(step)
            if os.path.exists(file) and folder.verdict(file) not in ("done", "wrong"):
                say(f"{file} isn't whole: measured again")
                os.replace(file, file + ".failed")

    # ---- times -----------------------------------------------------------------------------------

    @property
    def elapsed_s(self):
        return time.monotonic() - self.begin_s

    def _estimates(self):
        """What a launch of each name takes: what one took last, else what the list says, times what
        others took for what it says of them."""
        expected = {step.name: step.seconds for step in self.plan.steps}
        took = {name: seconds for _, name, seconds, result in self.folder.records()
                if result in ("done", "wrong")}
        known = [name for name in took if name in expected]
        ratio = ((sum(took[name] for name in known) + ESTIMATE_S) /
                 (sum(expected[name] for name in known) + ESTIMATE_S))
        return {name: min(took.get(name, ratio * seconds), 1e7)
                for name, seconds in expected.items()}

    def time_left(self, first):
        """Seconds that the launches from number `first` of the plan on will take, less those that
        have their result."""
        estimates = self._estimates()
        return int(0.5 + sum(estimates[step.name] for step in self.plan.steps[first:]
                             if not os.path.exists(self.folder.launch_file(step))))

    # ---- launches --------------------------------------------------------------------------------

    def _launch_all(self):
        run = None
        for number, step in enumerate(self.plan.steps):
            if step.run != run:
                if run is not None:
                    self._merge_all()
                run = step.run
                # Not a folder anew that was removed.
                if not os.path.isdir(self.folder.suite):
                    raise OSError("the folder was removed")
                os.makedirs(os.path.dirname(self.folder.launch_file(step)), exist_ok=True)
            if os.path.exists(self.folder.launch_file(step)):
                continue
            self.signals.look()
            if self.leave is None and self.signals.last is not None:
                self.leave = self.signals.last.name
            if self.leave is not None:
                return
            self._launch(number, step)
            if self.leave is not None:
                return
        self.leave = None  # a signal that came too late to leave anything out

    def _launch(self, number, step):
        """One launch; sets `leave` where the suite is to end."""
        options, file = self.options, self.folder.launch_file(step)
        part, log = file + ".part", file[:-len(".tsv")] + ".log"
        one_s = int(0.5 + self._estimates()[step.name])
        limit_s = options.limit_s or 600 + 20 * one_s
        budget_left_s = None
        if options.budget_s is not None:
            budget_left_s = options.budget_s - int(self.elapsed_s)
            if one_s >= budget_left_s:
                self.leave = "budget"
                return
            limit_s = min(limit_s, budget_left_s)
        width = len(str(self.total))
        say(f"[{number + 1:{width}}/{self.total}] run {step.run} of {options.runs}: "
            f"{step.name:<28} {in_words(self.elapsed_s):>6} so far, about "
            f"{in_words(self.time_left(number))} left")
        for old in (part, file + ".failed"):
            remove(old)
        words = [*shlex.split(step.command), "--output=" + part]
        line = plan.quoted(words)
        with open(log, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(f"+ {line}\n")
        if options.verbose:
            say(f"+ {line}")
        begin, begin_s = now(), time.monotonic()
        process = processes.begin(words, log)
        status = processes.await_end(process, limit_s, self.signals)
        seconds = int(time.monotonic() - begin_s)
        if status is None:  # a signal ended it
            remove(part)
            self.leave = self.signals.last.name
            return
        self._note_end(step, part, begin, seconds, status,
                       timed_out=status in (processes.TIMED_OUT, processes.KILLED) and
                       seconds >= limit_s, for_budget=limit_s == budget_left_s, limit_s=limit_s)

    def _note_end(self, step, part, begin, seconds, status, timed_out, for_budget, limit_s):
        """What became of a launch that ended by itself or for its time."""
        file = self.folder.launch_file(step)
        log = file[:-len(".tsv")] + ".log"
        result = folder.verdict(part)
        if timed_out and result not in ("done", "wrong"):
            if for_budget:
                remove(part)
                self.leave = "budget"
                return
            result = "failed"
            say(f"{step.name} took longer than {limit_s} s (--limit)")
        elif result == "done" and status != 0:
            # Such as MPI_Finalize that doesn't end.
            say(f"{step.name}: the result is complete and counts, but the launch then ended with "
                f"exit status {status} after {seconds} s: see {log}")
        if result == "interrupted":
            # By somebody who told the programs but not this script.
            remove(part)
            self.leave = "a signal to the program"
            return
        # Recorded before it counts as finished: what is killed in between is measured and recorded
        # once more, and the last record holds.
        self.folder.record(step, begin, seconds, status, result)
        if result == "failed":
            if os.path.exists(part):
                os.replace(part, file + ".failed")
            say(f"{step.name} failed with exit status {status}; {log} ends with:")
            for line in folder.read_lines(log)[-12:]:
                say("    " + line)
            return
        os.replace(part, file)
        if result == "wrong":
            say(f"{step.name} found wrong data: see the rows with FAIL in {file}")

    # ---- the end ---------------------------------------------------------------------------------

    def _merge_all(self):
        if not os.path.isdir(self.folder.suite):
            raise OSError("the folder was removed")
        self.merge_failed = False
        for entry in dict.fromkeys(step.entry for step in self.plan.steps):
            try:
                self.folder.merge(self.plan, entry)
            except (OSError, ValueError, ResultError) as error:
                if not isinstance(error, OSError):
                    say(str(error))
                say(f"Could not put together the launches of {entry}")
                self.merge_failed = True

    def _summarize(self):
        try:
            text, _ = summarize.summarize([self.folder.path])
            replace_file(os.path.join(self.folder.path, "summary.tsv"), text)
        except (ResultError, OSError):
            pass  # there is nothing to be put together, or no space: the results say so

    def _conclude(self):
        """Says what came of it; returns the exit status."""
        results = self.folder.results(self.plan)
        by_result = {result: [f"{name} (run {run})" for (run, name), other in results.items()
                              if other == result] for result in ("done", "wrong", "failed", None)}
        wrong, failed = by_result["wrong"], by_result["failed"]
        have = len(by_result["done"]) + len(wrong)
        with_result = {name for (_, name), result in results.items()
                       if result in ("done", "wrong")}
        without = len({name for _, name in results} - with_result)
        if wrong:
            say("Wrong data: " + " ".join(wrong))
        if failed:
            say("Failed: " + " ".join(failed))
        again = self.resuming()
        if self.leave is None:
            self.folder.replace("complete", now() + "\n")
            say(f"Done in {in_words(self.elapsed_s)}: {have} of {self.total} launches have their "
                "result")
            if failed:
                say(f"To try again what failed: {again}")
        elif self.leave == "budget":
            say(f"The budget is used up: {have} of {self.total} launches have their result, "
                f"{len(by_result[None])} are left. To go on: {again}")
            if without:
                say(f"There is no result of {without} programs yet")
        else:
            say(f"Ended by {self.leave}: {have} of {self.total} launches have their result. To go "
                f"on: {again}")
            return command.EXIT_FAILED
        return int(bool(self.merge_failed or wrong or failed or without))


def now():
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S%z")


def main(argv):
    try:
        return run_suite(argv)
    except (Failure, launchers.NotThere) as error:
        complain(PROGRAM, error)
    except folder.FolderError as error:
        for line in error.shown:
            say(line)
        complain(PROGRAM, error)
    return command.EXIT_FAILED


def run_suite(argv):
    options = read_options(argv)
    settings = plan.settings_of(options.vary)
    asked = dict.fromkeys((setting.launcher, setting.build) for setting in settings)
    options = options._replace(launchers={
        (name, build): launchers.find(name or options.launcher, build or options.build)
        for name, build in asked})
    ranks = options.ranks or launchers.default_ranks(options.hosts, options.ranks_per_node)
    if ranks < 2:
        raise UsageError("--ranks: the benchmarks need at least 2")
    has_threads = any(launchers.progresses_asynchronously({**os.environ, **setting.variables})
                      for setting in settings)
    job = launchers.Job(ranks, options.ranks_per_node, options.hosts, options.bind, has_threads)
    steps = plan.make_plan(options, job, settings)
    if steps.missing:
        say("Left out, since not built: " + " ".join(steps.missing))
    suite = Suite(options, steps, job, argv)
    if options.dry_run:
        suite.dry_run()
        return command.EXIT_DONE
    return suite.run()
