#!/usr/bin/env python3
"""Kills a random rank of a random benchmark at a random moment, as run_suite.sh
launches it: by hydra, Open MPI's mpirun, Slurm's srun, and over the testbed's two
hosts. Each trial is a suite of two launches of a benchmark, in one of which a rank gets
SIGKILL. It must be so that

- the launch ends within 10 s, with an exit status other than 0 unless its result was
  complete already, and leaves no process behind. Over two hosts hydra (MPICH 4.0.2) may
  wait for ever if the rank was killed in MPI_Init: then the suite's --limit ends it;
- what it had written before is still there, and all of its rows are whole, but for a
  last one that the kill may have cut off;
- the suite calls the launch failed, or done if its end mark is there, and says so;
- resumed, it has every row of both launches once, and doesn't touch what was finished.

What a trial does follows from its seed, but for the processes' own speed. A trial
that fails is printed with the seed, which --seed and --trials=1 try again.

usage: kill_trial.py --build=FOLDER [--trials=N] [--seed=N] [--launchers=LIST]
                     [--report=FILE]

Exit status: 0; 1 a trial failed; 77 no launcher can be used here."""

import argparse
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SUITE = os.path.join(TOP, "run_scripts", "run_suite.sh")
TESTBED = os.path.join(TOP, "tests", "testbed", "testbed.sh")
SLURM = os.path.join(TOP, "tests", "suite", "slurm_here.sh")
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
}
"""The benchmarks but overlap's, and what keeps their launches short."""

COLLECTIVES = """iallgather iallgatherv iallreduce ialltoall ialltoallv ialltoallw
    ibcast iexscan igather igatherv ineighbor_allgather ineighbor_alltoall ireduce
    ireduce_scatter ireduce_scatter_block iscan iscatter iscatterv""".split()


class Failure(Exception):
    """What must not be."""


def must(condition, *text):
    if not condition:
        raise Failure(" ".join(str(word) for word in text))


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def read_if_there(path):
    try:
        return read(path)
    except OSError:
        return ""


# ---- processes -----------------------------------------------------------------


def processes():
    """Number, command line and session of each process that hasn't ended."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as stream:
                line = stream.read().decode(errors="replace").replace("\0", " ")
            fields = read(f"/proc/{name}/stat").rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if fields[0] not in "ZX":
            yield int(name), line, int(fields[3])


def ranks_of(part, program):
    """The processes that run the program and write that file."""
    found = []
    for number, line, _ in processes():
        if f"--output={part}" in line:
            try:
                if os.readlink(f"/proc/{number}/exe") == program:
                    found.append(number)
            except OSError:
                pass
    return found


def rank_in(process):
    """The rank that the launcher gave it."""
    text = read_if_there(f"/proc/{process}/environ")
    found = re.search("(?:^|\0)(?:PMI_RANK|PMIX_RANK|SLURM_PROCID)=([0-9]+)", text)
    return found.group(1) if found else "NA"


# ---- launchers --------------------------------------------------------------------


class Launcher:
    """Options of run_suite.sh, and the environment that they need."""

    def __init__(self, name, options, environment=None):
        self.name = name
        self.options = options
        self.environment = environment or {}

    def still_at_work(self):
        """Something of its own that a launch left."""
        if self.name != "srun":
            return ""
        return subprocess.run(["squeue", "-h"], capture_output=True, text=True,
                              env={**os.environ, **self.environment},
                              check=False).stdout.strip()


class Launchers:
    """Those that can be had here."""

    def __init__(self, names, mpirun):
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)
        self.mpirun = mpirun
        self.testbed = f"kill-{os.getpid()}"
        self.there = []
        for name in names:
            made = getattr(self, "make_" + name)()
            if made is not None:
                self.there.append(made)

    def make_hydra(self):
        return Launcher("hydra", ["--launcher=hydra", "--ranks=2"])

    def make_openmpi(self):
        return Launcher("openmpi", ["--launcher=openmpi", "--ranks=2"])

    def make_srun(self):
        slurm = os.path.join(self.folder, "slurm")
        log = os.path.join(self.folder, "start")
        with open(log, "w", encoding="utf-8") as stream:
            status = subprocess.run(["sh", SLURM, "start", slurm],
                                    stdin=subprocess.DEVNULL, stdout=stream,
                                    stderr=stream, check=False).returncode
        if status != 0:
            print("no srun:", read(log).strip())
            return None
        return Launcher("srun", ["--launcher=srun --mpi=pmi2", "--ranks=2"],
                        {"SLURM_CONF": slurm + "/slurm.conf"})

    def make_testbed(self):
        made = subprocess.run([TESTBED, "up", "-q", self.testbed], text=True,
                              capture_output=True, check=False)
        if made.returncode != 0:
            print("no testbed:", made.stderr.strip())
            return None
        return Launcher("testbed", [
            f"--launcher={TESTBED} run -q --in {self.testbed} --mpirun "
            f"{self.mpirun} --ranks {{ranks}} --",
            "--hosts=198.18.0.1,198.18.0.2", "--ranks-per-node=1"])

    def close(self):
        subprocess.run([TESTBED, "down", "-q", self.testbed], check=False,
                       capture_output=True)
        subprocess.run(["sh", SLURM, "stop", os.path.join(self.folder, "slurm")],
                       check=False, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


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
    """A suite of two launches, one of which loses a rank."""

    def __init__(self, seed, launchers, build):
        chance = random.Random(seed)
        self.seed = seed
        self.launcher = chance.choice(launchers)
        self.name = chance.choice(list(SHORT) + ["overlap_ibarrier", "sweep"])
        if self.name == "sweep":
            self.name = f"overlap_{chance.choice(COLLECTIVES)}_sweep"
        self.run = chance.choice((1, 2))
        self.share = chance.uniform(0.0, 1.1)
        self.victim = chance.randrange(2)
        program = re.sub("_sweep$", "", self.name)
        folder = {"overlap": "overlap", "msgrate": "msgrate",
                  "monitor": "monitor"}.get(program.split("_", maxsplit=1)[0],
                                            program)
        self.program = os.path.realpath(os.path.join(build, folder, program))
        self.folder = tempfile.mkdtemp()
        self.results = os.path.join(self.folder, "results")
        self.line = ["sh", SUITE, f"--build={build}", f"--output={self.results}",
                     f"--benchmarks={self.name}", "--runs=2", f"--limit={LIMIT_S}",
                     "--options=all: --max-time=0.02 " +
                     SHORT.get(self.name, "--max-num-elts=512"),
                     *self.launcher.options]
        if self.name == "overlap_ibarrier":
            self.line[7] = "--options=all: --max-time=0.02"
        self.environment = {**os.environ, **self.launcher.environment}
        self.found = {"rank": "NA", "delay_s": "NA", "rows_before": "NA",
                      "end_s": "NA", "exit": "NA", "result": "NA"}

    def path(self, run, ending=".tsv"):
        return f"{self.results}/runs/{run}/{self.name}{ending}"

    def suite(self):
        return subprocess.Popen(self.line, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, start_new_session=True)

    def record(self, run):
        """The last record of that launch: exit status and result."""
        found = None
        for line in read_if_there(
                f"{self.results}/suite/launches.tsv").splitlines(True):
            cells = line.rstrip("\n").split("\t")
            if line.endswith("\n") and cells[0] == str(run):
                found = (cells[4], cells[5])
        return found

    def kill(self, suite, typical_s):
        """Kills the rank in its time. Returns whether there was one, and what the
        result held before."""
        part = self.path(self.run, ".tsv.part")
        end_s = time.monotonic() + 60
        ranks = []
        while not ranks and time.monotonic() < end_s and suite.poll() is None:
            ranks = ranks_of(part, self.program)
            time.sleep(0.002)
        must(ranks, "the launch didn't begin")
        began_s = time.monotonic()
        delay_s = self.share * typical_s
        time.sleep(max(0.0, delay_s))
        ranks = sorted(ranks_of(part, self.program))
        before = read_if_there(part)
        killed_s = time.monotonic()
        if ranks:
            victim = ranks[self.victim % len(ranks)]
            self.found["rank"] = rank_in(victim)
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.found["delay_s"] = f"{killed_s - began_s:.3f}"
        # The result is opened after MPI_Init.
        in_init = not os.path.exists(part)
        end_s = END_S
        if self.launcher.name == "testbed" and in_init:
            end_s += LIMIT_S
        while self.record(self.run) is None:
            must(time.monotonic() < killed_s + end_s, "no end of the launch in",
                 end_s, "s;", [line for _, line, _ in processes()
                               if self.results in line])
            time.sleep(0.005)
        self.found["end_s"] = f"{time.monotonic() - killed_s:.2f}"
        self.found["rows_before"] = len(rows_of(before))
        return bool(ranks), before

    def nothing_left(self, session):
        """No process of the launch."""
        left = ""
        for _ in range(40):
            left = [line for _, line, of in processes()
                    if f"{self.results}/runs" in line or of == session]
            left += [self.launcher.still_at_work()]
            if not any(left):
                return
            time.sleep(0.05)
        must(False, "left behind:", left)

    def try_it(self, typical_s):
        """A launch takes about so many seconds."""
        suite = self.suite()
        try:
            killed, before = self.kill(suite, typical_s)
            said = suite.communicate(timeout=60)[1]
        finally:
            if suite.poll() is None:
                suite.kill()
                suite.communicate()
        status, result = self.record(self.run)
        self.found["exit"], self.found["result"] = status, result
        self.nothing_left(None)
        failed = self.path(self.run, ".tsv.failed")
        after = read_if_there(self.path(self.run) if result == "done" else failed)
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
            must(f"{self.name} (run {self.run})" in said, said)
        self.resume(partial)

    def resume(self, partial):
        finished = {run: os.stat(self.path(run)) for run in (1, 2)
                    if os.path.exists(self.path(run))}
        suite = self.suite()
        try:
            said = suite.communicate(timeout=120)[1]
        finally:
            if suite.poll() is None:
                suite.kill()
                suite.communicate()
        must(suite.returncode == 0, "resumed: exit status", suite.returncode, said)
        for run, was in finished.items():
            now = os.stat(self.path(run))
            must((was.st_ino, was.st_mtime_ns) == (now.st_ino, now.st_mtime_ns),
                 "run", run, "was measured again")
        rows = [rows_of(read(self.path(run))) for run in (1, 2)]
        must(rows[0] == rows[1] and rows[0], "rows differ:", rows)
        must(len(set(rows[0])) == len(rows[0]), "rows are there twice:", rows[0])
        must(partial == rows[0][:len(partial)], "rows of the killed launch:", partial)
        merged = read(f"{self.results}/{self.name}.tsv")
        must(rows_of(merged) == rows[0] + rows[1], "merged:", merged)
        must(merged.endswith(f"\n# end: {2 * len(rows[0])} rows, exit 0\n"), merged)

    def took_s(self):
        """What a launch took, by its files: the log begins with it, the end mark is
        about the last that it does."""
        times = []
        for run in (1, 2):
            try:
                times.append(os.stat(self.path(run)).st_mtime -
                             os.stat(self.path(run, ".log")).st_mtime)
            except OSError:
                pass
        return max(times, default=0.0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--launchers", required=True, help="with commas: hydra, "
                        "openmpi, srun, testbed")
    parser.add_argument("--mpirun", default="mpirun.mpich", help="the testbed's")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1, help="of the first trial")
    parser.add_argument("--report", help="a file that gets a line a trial")
    options = parser.parse_args()
    launchers = Launchers(options.launchers.split(","), options.mpirun)
    if not launchers.there:
        sys.exit(SKIP)
    typical_s = {}
    failures = 0
    counts = collections.Counter()
    try:
        for seed in range(options.seed, options.seed + options.trials):
            trial = Trial(seed, launchers.there, options.build)
            kind = (trial.launcher.name, trial.name)
            verdict = "ok"
            try:
                trial.try_it(typical_s.get(kind, 0.25))
                typical_s[kind] = max(trial.took_s(), 0.1)
            except (Failure, subprocess.TimeoutExpired, OSError) as error:
                failures += 1
                verdict = "FAIL"
                print(f"seed {seed}: {trial.launcher.name} {trial.name}: {error}")
                print("   ", " ".join(trial.line), flush=True)
            shutil.rmtree(trial.folder, ignore_errors=True)
            line = [seed, *kind, trial.run, *trial.found.values(), verdict]
            print(*line, sep="\t", flush=True)
            if options.report:
                with open(options.report, "a", encoding="utf-8") as stream:
                    print(*line, sep="\t", file=stream)
            counts[trial.launcher.name, trial.found["result"], verdict] += 1
    finally:
        launchers.close()
    for (name, result, verdict), count in sorted(counts.items()):
        print(f"{name}: {count} trials, launch {result}: {verdict}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
