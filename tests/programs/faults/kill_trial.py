#!/usr/bin/env python3
"""Kills a random rank of a benchmark at a random moment, as run_suite.sh launches it: by hydra, Open MPI's mpirun,
Slurm's srun, and over the testbed's two hosts. Each trial is a suite of launches of a benchmark: the first is left
alone and tells how long one takes; in the second, after which there may be a third, a rank gets SIGKILL. It must be so that

- the launch ends within 10 s, with an exit status other than 0 unless its result was complete already, and leaves no
  process behind. Over two hosts hydra (MPICH 4.0.2) may wait for ever if the rank was killed in MPI_Init: then the
  suite's --limit ends it;
- what it had written before is still there, and all of its rows are whole, but for a last one that the kill may have
  cut off;
- the suite calls the launch failed, or done if its end mark is there, and says so;
- resumed, it has every row of each launch once, and doesn't touch what was finished.

Trials take turns at the launchers and the benchmarks. What one does follows from its seed and the launchers, but for
the processes' own speed. A trial that fails is printed with the seed, which --seed and --trials=1 try again. Of several
trials, a third must have killed a launch that had rows.

usage: kill_trial.py --build=FOLDER [--trials=N] [--seed=N] [--launchers=LIST] [--mpirun=MPIRUN] [--deadline=SECONDS]

Exit status: 0; 1 a trial failed; 77 no launcher can be used here."""

import argparse
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any, NamedTuple

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TESTS, "lib"))
import launchers as started  # noqa: E402
from mpi_run import WITH_ELEMENTS, read, read_if_there  # noqa: E402
from processes import is_alive, kill_all, processes_with, ranks_of, wait_for  # noqa: E402

SUITE = os.path.join(os.path.dirname(TESTS), "run_scripts", "run_suite.sh")
SKIP = 77

END_S = 10.0  # a launch of which a rank was killed ends within this
LIMIT_S = 20  # the suite's --limit, for what the launcher doesn't end

# The benchmarks but overlap's sweeps over numbers of elements, and what keeps their launches short.
SHORT = {
    "msgrate": "--cache=0",
    "msgrate_rma": "--cache=0",
    "pingpong": "--patterns=put,MPISend --max-ndata=64 --coarray-sync=all",
    "syncbench": "",
    "halo": "--local=4",
    "mpi_overhead": "--msgsize=0,1K",
    "monitor_overhead": "",
    "overlap_ibarrier": "",
    "overlap_halo_sweep": "--local=4",
}
SWEEPS = [f"overlap_{name}_sweep" for name in WITH_ELEMENTS]
# A few trials have one of each kind.
PROGRAMS = [SWEEPS[0], *SHORT, *SWEEPS[1:]]

# Of ROWS_TRIALS_MIN trials or more, this share of the killed launches must have rows.
ROWS_SHARE_MIN, ROWS_TRIALS_MIN = 1 / 3, 6


class Failure(Exception):
    """What must not be."""


class OutOfTime(Exception):
    """The deadline is there."""


def must(condition, *text):
    if not condition:
        raise Failure(" ".join(str(word) for word in text))


class Launcher(NamedTuple):
    """Options of run_suite.sh, and what was started for them: nothing, a Slurm or a testbed."""

    name: str
    options: list
    server: Any = None

    @property
    def environment(self):
        return {**os.environ, **getattr(self.server, "environment", {})}

    def still_at_work(self):
        """Something of its own that a launch left."""
        if self.name != "srun":
            return ""
        return subprocess.run(["squeue", "-h"], capture_output=True, text=True, env=self.environment,
                              check=False).stdout.strip()


def make_launcher(name, mpirun):
    """Skips, as a test does, where it can't be had."""
    if name == "srun":
        return Launcher(name, ["--launcher=srun --mpi=pmi2", "--ranks=2"], started.Slurm())
    if name == "testbed":
        testbed = started.Testbed("kill")
        return Launcher(name, [f"--launcher={testbed.launcher(mpirun)}", f"--hosts={','.join(testbed.hosts)}",
                               "--ranks-per-node=1"], testbed)
    # Where run_suite.sh looks for them.
    programs = {"hydra": ("mpirun.mpich", "mpiexec.hydra", "mpirun", "mpiexec"),
                "openmpi": ("mpirun.openmpi", "mpirun", "orterun")}[name]
    if not any(map(shutil.which, programs)):
        raise unittest.SkipTest("there is none of " + ", ".join(programs))
    return Launcher(name, [f"--launcher={name}", "--ranks=2"])


def rows_of(text):
    """The keys of a result's rows; all rows but a cut-off last line must be whole."""
    lines = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    bare = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    if not bare:
        return []
    names, *rows = bare
    keys = re.findall("([^ =]+)=key", re.search("(?m)^# columns: (.*)$", text).group(1))
    for row in rows:
        must(len(row) == len(names) and all(row), "half a row:", row)
    return [tuple(row[names.index(key)] for key in keys if key != "run") for row in rows]


class Trial:
    """A suite of launches, one of which loses a rank."""

    KILLED = 2  # the launch

    def __init__(self, seed, launchers, build):
        # As many trials as there are pairs of both have each pair once.
        round_number, turn = divmod(seed - 1, len(PROGRAMS))
        self.launcher = launchers[(round_number + turn) % len(launchers)]
        self.name = PROGRAMS[turn]
        chance = random.Random(seed)
        self.launches = chance.choice((2, 3))
        self.after_rows = chance.random() < 0.7
        self.share = chance.random()
        self.victim = chance.randrange(2)
        self.had_rows, self.result = False, None
        program = re.sub("_sweep$", "", self.name)
        folder = {"overlap": "overlap", "msgrate": "msgrate", "monitor": "monitor"}.get(program.split("_")[0], program)
        self.program = os.path.realpath(os.path.join(build, folder, program))
        self.folder = tempfile.mkdtemp()
        self.results = os.path.join(self.folder, "results")
        short = SHORT.get(self.name, "--min-num-elts=1 --max-num-elts=512")
        self.line = ["sh", SUITE, f"--build={build}", f"--output={self.results}", f"--benchmarks={self.name}",
                     f"--runs={self.launches}", f"--limit={LIMIT_S}", f"--options=all: --max-time=0.02 {short}",
                     *self.launcher.options]
        self.suites = []

    def path(self, run, ending=".tsv"):
        return f"{self.results}/runs/{run}/{self.name}{ending}"

    def suite(self):
        suite = subprocess.Popen(self.line, env=self.launcher.environment, text=True, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        self.suites.append(suite)
        return suite

    def record(self, run):
        """The last record of that launch: exit status and result."""
        found = None
        for line in read_if_there(f"{self.results}/suite/launches.tsv").splitlines(True):
            cells = line.rstrip("\n").split("\t")
            if line.endswith("\n") and cells[0] == str(run):
                found = (cells[4], cells[5])
        return found

    def ranks(self, run):
        return ranks_of(self.program, f"--output={self.path(run, '.tsv.part')}")

    def begin_of(self, run, suite):
        """Waits for the launch; returns its ranks as they appear, and when."""
        ranks = []

        def have_ranks():
            ranks[:] = self.ranks(run)
            return ranks or suite.poll() is not None
        must(wait_for(have_ranks, 60, every_s=0.002) and ranks, "launch", run, "didn't begin")
        return ranks, time.monotonic()

    def await_row(self, run, ranks):
        """Waits for the launch's first row, or for its end."""
        part = self.path(run, ".tsv.part")
        must(wait_for(lambda: rows_of(read_if_there(part)) or not any(map(is_alive, ranks)), 60, every_s=0.002),
             "no row of launch", run)

    def times(self, suite):
        """Of the first launch, which nobody disturbs: how long its ranks live, and how long with a row or more."""
        ranks, begin_s = self.begin_of(1, suite)
        self.await_row(1, ranks)
        row_s = time.monotonic()
        must(wait_for(lambda: not any(map(is_alive, ranks)), 60, every_s=0.002), "no end of launch 1")
        end_s = time.monotonic()
        return end_s - begin_s, end_s - row_s

    def kill(self, suite):
        """Kills the rank in its time. Returns whether there was one, and what the result held before."""
        whole_s, with_rows_s = self.times(suite)
        ranks, _ = self.begin_of(self.KILLED, suite)
        if self.after_rows:
            self.await_row(self.KILLED, ranks)
        time.sleep(self.share * (with_rows_s if self.after_rows else whole_s))
        part = self.path(self.KILLED, ".tsv.part")
        ranks = self.ranks(self.KILLED)
        before = read_if_there(part)
        if ranks:
            try:
                os.kill(ranks[self.victim % len(ranks)], signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.had_rows = bool(rows_of(before))
        # The result is opened after MPI_Init.
        in_init = not os.path.exists(part)
        limit_s = END_S + (LIMIT_S if self.launcher.name == "testbed" and in_init else 0)
        must(wait_for(lambda: self.record(self.KILLED) is not None, limit_s), "no end of the launch in", limit_s, "s;",
             [process.line for process in processes_with(self.results)])
        return bool(ranks), before

    def left(self):
        """What is left of a launch."""
        return ([process.line for process in processes_with(f"{self.results}/runs")] or self.launcher.still_at_work())

    def end_all(self):
        """Kills what there still is of a trial that failed."""
        kill_all(processes_with(self.folder))
        for suite in self.suites:
            suite.wait()
            suite.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def try_it(self):
        """Raises a Failure if something is as it must not be."""
        suite = self.suite()
        killed, before = self.kill(suite)
        said = suite.communicate(timeout=60)[1]
        status, self.result = self.record(self.KILLED)
        must(wait_for(lambda: not self.left(), 2), "left behind:", self.left())
        done = self.result == "done"
        after = read_if_there(self.path(self.KILLED, ".tsv" if done else ".tsv.failed"))
        must(after.startswith(before), "what was written before is gone:", before, "/", after)
        must(bool(re.search("\n# end: ([0-9]+) rows?, exit 0\n$", after)) == done, self.result, "with", after[-200:])
        must(suite.returncode == (0 if done else 1), "exit status", suite.returncode, said)
        if done:
            must(status == "0" or "complete and counts" in said, said)
        else:
            must(killed and self.result == "failed" and status != "0", status, self.result, said)
            must(f"{self.name} (run {self.KILLED})" in said, said)
        self.resume(rows_of(after))

    def resume(self, partial):
        runs = range(1, self.launches + 1)
        finished = {run: os.stat(self.path(run)) for run in runs if os.path.exists(self.path(run))}
        suite = self.suite()
        said = suite.communicate(timeout=60)[1]
        must(suite.returncode == 0, "resumed: exit status", suite.returncode, said)
        for run, was in finished.items():
            now = os.stat(self.path(run))
            must((was.st_ino, was.st_mtime_ns) == (now.st_ino, now.st_mtime_ns), "run", run, "was measured again")
        rows = [rows_of(read(self.path(run))) for run in runs]
        keys = rows[0]
        must(keys and all(of == keys for of in rows), "rows differ:", rows)
        must(len(set(keys)) == len(keys), "rows are there twice:", keys)
        must(partial == keys[:len(partial)], "rows of the killed launch:", partial)
        merged = read(f"{self.results}/{self.name}.tsv")
        must(rows_of(merged) == list(itertools.chain(*rows)), "merged:", merged)
        must(merged.endswith(f"\n# end: {len(rows) * len(keys)} rows, exit 0\n"), merged)


def make_trials(seeds, launchers, build):
    """The exit status."""
    failures = with_rows = 0
    for seed in seeds:
        trial = Trial(seed, launchers, build)
        error = None
        try:
            trial.try_it()
        except (Failure, subprocess.TimeoutExpired, OSError) as caught:
            error = caught
        finally:
            trial.end_all()
        print(f"seed {seed}: {trial.launcher.name} {trial.name}: {error or trial.result}", flush=True)
        if error:
            failures += 1
            print("   ", " ".join(trial.line), flush=True)
        with_rows += trial.had_rows
    print(f"{failures} failed; {with_rows} of {len(seeds)} launches had rows when a rank was killed")
    few = len(seeds) >= ROWS_TRIALS_MIN and with_rows < ROWS_SHARE_MIN * len(seeds)
    if few:
        print("FAIL: those are too few to have shown anything")
    return 1 if failures or few else 0


def out_of_time(number, _):
    raise OutOfTime(f"ended by {signal.Signals(number).name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--launchers", required=True, help="with commas: hydra, openmpi, srun, testbed")
    parser.add_argument("--mpirun", default="mpirun.mpich", help="the testbed's")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1, help="of the first trial")
    parser.add_argument("--deadline", type=int, default=0, help="seconds after which it ends and fails, with all ended "
                        "that it started")
    options = parser.parse_args()
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, out_of_time)
    signal.alarm(options.deadline)
    launchers = []
    try:
        for name in options.launchers.split(","):
            try:
                launchers.append(make_launcher(name, options.mpirun))
            except unittest.SkipTest as reason:
                print(f"no {name}: {reason}", flush=True)
        if not launchers:
            print("there is no launcher to try")
            return SKIP
        return make_trials(range(options.seed, options.seed + options.trials), launchers, options.build)
    except OutOfTime as error:
        print("FAIL: not done in time:", error)
        return 1
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for launcher in launchers:
            if launcher.server is not None:
                launcher.server.close()


if __name__ == "__main__":
    sys.exit(main())
