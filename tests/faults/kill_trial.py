#!/usr/bin/env python3
"""Kills a random rank of a benchmark at a random moment, as run_suite.sh launches it:
by hydra, Open MPI's mpirun, Slurm's srun, and over the testbed's two hosts. Each trial
is a suite of launches of a benchmark: the first is left alone and tells how long one
takes; in the second, after which there may be a third, a rank gets SIGKILL. It must be
so that

- the launch ends within 10 s, with an exit status other than 0 unless its result was
  complete already, and leaves no process behind. Over two hosts hydra (MPICH 4.0.2) may
  wait for ever if the rank was killed in MPI_Init: then the suite's --limit ends it;
- what it had written before is still there, and all of its rows are whole, but for a
  last one that the kill may have cut off;
- the suite calls the launch failed, or done if its end mark is there, and says so;
- resumed, it has every row of each launch once, and doesn't touch what was finished.

Trials take turns at the launchers and the benchmarks. What one does follows from its
seed and the launchers, but for the processes' own speed. A trial that fails is printed
with the seed, which --seed and --trials=1 try again. Of several trials, a third must
have killed a launch that had rows.

usage: kill_trial.py --build=FOLDER [--trials=N] [--seed=N] [--launchers=LIST]
                     [--deadline=SECONDS] [--report=FILE]

Exit status: 0; 1 a trial failed; 77 no launcher can be used here."""

import argparse
import collections
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

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import launchers as started  # noqa: E402
from mpi_run import WITH_ELEMENTS, read, read_if_there  # noqa: E402
from processes import is_alive, kill_all, processes_with, ranks_of, wait_for  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SUITE = os.path.join(TOP, "run_scripts", "run_suite.sh")
SKIP = 77

END_S = 10.0
"""A launch of which a rank was killed ends within this."""

LIMIT_S = 20
"""The suite's --limit, for what the launcher doesn't end."""

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
"""The benchmarks but overlap's sweeps over numbers of elements, and what keeps their launches short."""

SWEEPS = [f"overlap_{name}_sweep" for name in WITH_ELEMENTS]

PROGRAMS = [SWEEPS[0], *SHORT, *SWEEPS[1:]]
"""A few trials have one of each kind."""

MPIRUNS = {"hydra": ("mpirun.mpich", "mpiexec.hydra", "mpirun", "mpiexec"),
           "openmpi": ("mpirun.openmpi", "mpirun", "orterun")}
"""Where run_suite.sh looks for them."""

ROWS_SHARE_MIN, ROWS_TRIALS_MIN = 1 / 3, 6
"""Such a share of the launches must have rows when they are killed, where there are so
many trials."""


class Failure(Exception):
    """What must not be."""


class OutOfTime(Exception):
    """The deadline is there."""


def must(condition, *text):
    if not condition:
        raise Failure(" ".join(str(word) for word in text))


def rank_in(process):
    """The rank that the launcher gave it."""
    text = read_if_there(f"/proc/{process}/environ")
    found = re.search("(?:^|\0)(?:PMI_RANK|PMIX_RANK|SLURM_PROCID)=([0-9]+)", text)
    return found.group(1) if found else "NA"


# ---- launchers --------------------------------------------------------------------


class Launcher:
    """Options of run_suite.sh, the environment that they need, and what was started."""

    def __init__(self, name, options, server=None):
        self.name = name
        self.options = options
        self.server = server
        self.environment = getattr(server, "environment", {})

    def still_at_work(self):
        """Something of its own that a launch left."""
        if self.name != "srun":
            return ""
        return subprocess.run(["squeue", "-h"], capture_output=True, text=True,
                              env={**os.environ, **self.environment},
                              check=False).stdout.strip()

    def close(self):
        if self.server is not None:
            self.server.close()


def make_launcher(name, mpirun):
    """Skips, as a test does, where it can't be had."""
    if name == "srun":
        return Launcher(name, ["--launcher=srun --mpi=pmi2", "--ranks=2"],
                        started.Slurm())
    if name == "testbed":
        testbed = started.Testbed("kill")
        return Launcher(name, [f"--launcher={testbed.launcher(mpirun)}",
                               f"--hosts={','.join(testbed.hosts)}",
                               "--ranks-per-node=1"], testbed)
    if not any(map(shutil.which, MPIRUNS[name])):
        raise unittest.SkipTest("there is none of " + ", ".join(MPIRUNS[name]))
    return Launcher(name, [f"--launcher={name}", "--ranks=2"])


def make_launchers(names, mpirun, made):
    """Adds those that can be had to the list, says which can't."""
    for name in names:
        try:
            made.append(make_launcher(name, mpirun))
        except unittest.SkipTest as reason:
            print(f"no {name}: {reason}", flush=True)


# ---- results -------------------------------------------------------------------------


def rows_of(text):
    """The keys of a result's rows; all rows but a cut-off last line must be whole."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
    columns = re.search("(?m)^# columns: (.*)$", text)
    bare = [line.rstrip("\n").split("\t") for line in lines
            if not line.startswith("#")]
    if not bare:
        return []
    names = bare[0]
    keys = [word[:-4] for word in columns.group(1).split() if
            word.endswith("=key") and word != "run=key"]
    for row in bare[1:]:
        must(len(row) == len(names) and all(row), "half a row:", row)
    places = [names.index(key) for key in keys]
    return [tuple(row[place] for place in places) for row in bare[1:]]


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
        self.has_rows = chance.random() < 0.7
        self.share = chance.random()
        self.victim = chance.randrange(2)
        program = re.sub("_sweep$", "", self.name)
        folder = {"overlap": "overlap", "msgrate": "msgrate",
                  "monitor": "monitor"}.get(program.split("_", maxsplit=1)[0],
                                            program)
        self.program = os.path.realpath(os.path.join(build, folder, program))
        self.folder = tempfile.mkdtemp()
        self.results = os.path.join(self.folder, "results")
        self.line = ["sh", SUITE, f"--build={build}", f"--output={self.results}",
                     f"--benchmarks={self.name}", f"--runs={self.launches}",
                     f"--limit={LIMIT_S}",
                     "--options=all: --max-time=0.02 " +
                     SHORT.get(self.name, "--min-num-elts=1 --max-num-elts=512"),
                     *self.launcher.options]
        self.environment = {**os.environ, **self.launcher.environment}
        self.suites = []
        self.found = {"launches": self.launches, "rank": "NA", "delay_s": "NA",
                      "rows_before": "NA", "end_s": "NA", "exit": "NA", "result": "NA"}

    def path(self, run, ending=".tsv"):
        return f"{self.results}/runs/{run}/{self.name}{ending}"

    def suite(self):
        suite = subprocess.Popen(self.line, env=self.environment, text=True,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, start_new_session=True)
        self.suites.append(suite)
        return suite

    def record(self, run):
        """The last record of that launch: exit status and result."""
        found = None
        for line in read_if_there(
                f"{self.results}/suite/launches.tsv").splitlines(True):
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
        must(wait_for(have_ranks, 60, every_s=0.002) and ranks,
             "launch", run, "didn't begin")
        return ranks, time.monotonic()

    def await_row(self, run, ranks):
        """Waits for the launch's first row, or for its end."""
        part = self.path(run, ".tsv.part")
        must(wait_for(lambda: rows_of(read_if_there(part)) or
                      not any(map(is_alive, ranks)), 60, every_s=0.002),
             "no row of launch", run)

    def times(self, suite):
        """Of the first launch, which nobody disturbs: how long its ranks live, and how
        long they do so with a row or more."""
        ranks, begin_s = self.begin_of(1, suite)
        self.await_row(1, ranks)
        row_s = time.monotonic()
        must(wait_for(lambda: not any(map(is_alive, ranks)), 60, every_s=0.002),
             "no end of launch 1")
        end_s = time.monotonic()
        return end_s - begin_s, end_s - row_s

    def kill(self, suite):
        """Kills the rank in its time. Returns whether there was one, and what the
        result held before."""
        whole_s, with_rows_s = self.times(suite)
        ranks, begin_s = self.begin_of(self.KILLED, suite)
        if self.has_rows:
            self.await_row(self.KILLED, ranks)
        time.sleep(self.share * (with_rows_s if self.has_rows else whole_s))
        part = self.path(self.KILLED, ".tsv.part")
        ranks = self.ranks(self.KILLED)
        before = read_if_there(part)
        killed_s = time.monotonic()
        if ranks:
            victim = ranks[self.victim % len(ranks)]
            self.found["rank"] = rank_in(victim)
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.found["rows_before"] = len(rows_of(before))
        self.found["delay_s"] = f"{killed_s - begin_s:.3f}"
        # The result is opened after MPI_Init.
        in_init = not os.path.exists(part)
        limit_s = END_S
        if self.launcher.name == "testbed" and in_init:
            limit_s += LIMIT_S
        must(wait_for(lambda: self.record(self.KILLED) is not None, limit_s),
             "no end of the launch in", limit_s, "s;",
             [process.line for process in processes_with(self.results)])
        self.found["end_s"] = f"{time.monotonic() - killed_s:.2f}"
        return bool(ranks), before

    def left(self):
        """What is left of a launch."""
        return ([process.line for process in processes_with(f"{self.results}/runs")] or
                self.launcher.still_at_work())

    def end_all(self):
        """Kills what there still is of a trial that failed."""
        kill_all(processes_with(self.folder))
        for suite in self.suites:
            suite.wait()
            suite.stderr.close()

    def try_it(self):
        """Raises a Failure if something is as it must not be."""
        suite = self.suite()
        killed, before = self.kill(suite)
        said = suite.communicate(timeout=60)[1]
        status, result = self.record(self.KILLED)
        self.found["exit"], self.found["result"] = status, result
        must(wait_for(lambda: not self.left(), 2), "left behind:", self.left())
        failed = self.path(self.KILLED, ".tsv.failed")
        after = read_if_there(self.path(self.KILLED) if result == "done" else failed)
        must(after.startswith(before), "what was written before is gone:", before,
             "/", after)
        partial = rows_of(after)
        complete = re.search("\n# end: ([0-9]+) rows?, exit 0\n$", after)
        must(bool(complete) == (result == "done"), result, "with", after[-200:])
        if result == "done":
            must(suite.returncode == 0, "exit status", suite.returncode, said)
            must(status == "0" or "complete and counts" in said, said)
        else:
            must(killed and result == "failed" and status != "0", status, result,
                 said)
            must(suite.returncode == 1, "exit status", suite.returncode, said)
            must(f"{self.name} (run {self.KILLED})" in said, said)
        self.resume(partial)

    def resume(self, partial):
        runs = range(1, self.launches + 1)
        finished = {run: os.stat(self.path(run)) for run in runs
                    if os.path.exists(self.path(run))}
        suite = self.suite()
        said = suite.communicate(timeout=60)[1]
        must(suite.returncode == 0, "resumed: exit status", suite.returncode, said)
        for run, was in finished.items():
            now = os.stat(self.path(run))
            must((was.st_ino, was.st_mtime_ns) == (now.st_ino, now.st_mtime_ns),
                 "run", run, "was measured again")
        rows = [rows_of(read(self.path(run))) for run in runs]
        keys = rows[0]
        must(keys and all(of == keys for of in rows), "rows differ:", rows)
        must(len(set(keys)) == len(keys), "rows are there twice:", keys)
        must(partial == keys[:len(partial)], "rows of the killed launch:", partial)
        merged = read(f"{self.results}/{self.name}.tsv")
        must(rows_of(merged) == list(itertools.chain(*rows)), "merged:", merged)
        must(merged.endswith(f"\n# end: {len(rows) * len(keys)} rows, exit 0\n"),
             merged)


class Trials:
    """Makes them, and counts what came of them."""

    def __init__(self, launchers, build, report):
        self.launchers = launchers
        self.build = build
        self.report = report
        self.failures = self.with_rows = self.made = 0
        self.counts = collections.Counter()

    def make(self, seed):
        trial = Trial(seed, self.launchers, self.build)
        kind = (trial.launcher.name, trial.name)
        verdict = "FAIL"
        try:
            trial.try_it()
            verdict = "ok"
        except (Failure, subprocess.TimeoutExpired, OSError) as error:
            print(f"seed {seed}: {trial.launcher.name} {trial.name}: {error}")
            print("   ", " ".join(trial.line), flush=True)
        finally:
            trial.end_all()
            shutil.rmtree(trial.folder, ignore_errors=True)
        self.made += 1
        self.failures += verdict != "ok"
        self.with_rows += trial.found["rows_before"] not in ("NA", 0)
        self.counts[trial.launcher.name, trial.found["result"], verdict] += 1
        line = [seed, *kind, *trial.found.values(), verdict]
        print(*line, sep="\t", flush=True)
        if self.report:
            with open(self.report, "a", encoding="utf-8") as stream:
                print(*line, sep="\t", file=stream)

    def conclude(self):
        """The exit status."""
        for (name, result, verdict), count in sorted(self.counts.items()):
            print(f"{name}: {count} trials, launch {result}: {verdict}")
        print(f"{self.with_rows} of {self.made} launches had rows when a rank was killed")
        few = (self.made >= ROWS_TRIALS_MIN and
               self.with_rows < ROWS_SHARE_MIN * self.made)
        if few:
            print("FAIL: those are too few to have shown anything")
        return 1 if self.failures or few else 0


def out_of_time(number, _):
    raise OutOfTime(f"ended by {signal.Signals(number).name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--launchers", required=True, help="with commas: hydra, "
                        "openmpi, srun, testbed")
    parser.add_argument("--mpirun", default="mpirun.mpich", help="the testbed's")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1, help="of the first trial")
    parser.add_argument("--report", help="a file that gets a line a trial")
    parser.add_argument("--deadline", type=int, default=0, help="seconds after which "
                        "it ends and fails, with all ended that it started")
    options = parser.parse_args()
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, out_of_time)
    signal.alarm(options.deadline)
    launchers = []
    try:
        make_launchers(options.launchers.split(","), options.mpirun, launchers)
        if not launchers:
            print("there is no launcher to try")
            return SKIP
        trials = Trials(launchers, options.build, options.report)
        for seed in range(options.seed, options.seed + options.trials):
            trials.make(seed)
        return trials.conclude()
    except OutOfTime as error:
        print("FAIL: not done in time:", error)
        return 1
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for launcher in launchers:
            launcher.close()


if __name__ == "__main__":
    sys.exit(main())
