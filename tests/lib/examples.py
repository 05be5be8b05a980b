#!/usr/bin/env python3
"""Trials of the programs of tests/examples, each of which has one known fault: what the mended
program really saves, what the monitor reports of the faulty one, and results of the benchmarks on
the same machine that a prediction of the saving rests on.

usage: examples.py BUILD MPIRUN EXAMPLE SEED FOLDER
    makes one trial on the model MPI, or with `real` for SEED on the real library; leaves report.tsv
    and results/ in FOLDER and prints what is true
"""

import math
import os
import random
import statistics
import subprocess
import sys
import typing

from mpi_run import Failed, Launcher, number, read_tsv

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMCOST = os.path.join(TOP, "run_scripts", "commcost")
RANKS = 2

# The change that mends each program's fault; None: there is none.
CHANGES = {"stencil": "hide", "solver": "merge-collectives", "transpose": "balance",
           "halo": "merge-messages", "puts": "drop-flushes", "balanced": None}

RUN_S = 0.3           # that a faulty run takes on the model, about
MIN_SHARE = 0.12    # of it that the mended program saves
KNOWN = 0.03          # of a saving, to which runs are repeated
LAUNCHES = 3          # of each benchmark
PER_BYTE_NS = "MODEL_PER_BYTE_NS"


class Benchmark(typing.NamedTuple):
    """A program of the build with its options."""

    __test__ = False
    program: str
    options: list


class Trial(typing.NamedTuple):
    """A program of tests/examples with its arguments, and where it runs."""

    __test__ = False
    example: str
    arguments: list
    variables: dict   # the environment: of the model, or of the MPI library
    benchmarks: list

    def __str__(self):
        return " ".join([self.example, *map(str, self.arguments),
                         *(f"{name}={value}" for name, value in self.variables.items())])


class Truth(typing.NamedTuple):
    """Medians of runs in turn, in seconds."""

    __test__ = False
    faulty_s: float
    mended_s: float
    unknown_s: float  # of the difference: what disturbs runs makes them longer only, so a median
                      # may be too large by what the quickest run took less

    @property
    def saved_s(self):
        return self.faulty_s - self.mended_s

    @property
    def share(self):
        return self.saved_s / self.faulty_s

    def __str__(self):
        return (f"{self.faulty_s:.4f} s, mended {self.mended_s:.4f} s: saves {self.saved_s:.4f} s, "
                f"{self.share:.0%}, give or take {self.unknown_s:.4f} s")


# ---- benchmarks ----------------------------------------------------------------------------------

def overlap(name, min_bytes, max_bytes=None, max_time_s=0.1):
    """overlap_NAME at sizes on both sides of these."""
    smallest = 1 << max(0, int(math.log2(min_bytes / 8)))
    largest = 1 << max(0, math.ceil(math.log2((max_bytes or min_bytes) / 8)))
    return Benchmark(f"overlap/overlap_{name}",
                     ["--data-driven", f"--min-num-elts={smallest}", f"--max-num-elts={largest}",
                      f"--max-time={max_time_s}"])


def synchronisations(*types, max_time_s=0.1):
    return Benchmark("syncbench/syncbench",
                     [f"--types={','.join(types)}", f"--max-time={max_time_s}"])


def rates(min_bytes, max_bytes=None, max_time_s=0.1):
    """Message rates at sizes on both sides of these."""
    smallest = 1 << int(math.log2(min_bytes))
    largest = 1 << math.ceil(math.log2(max_bytes or min_bytes))
    return Benchmark("msgrate/msgrate", ["--peers=1", "--cache=0", f"--size={smallest}:{largest}",
                                         f"--max-time={max_time_s}"])


# ---- what is drawn -------------------------------------------------------------------------------

class Drawn(typing.NamedTuple):
    """What a draw says of an example. Times in us."""

    __test__ = False
    arguments: list   # without the number of steps
    variables: dict
    benchmarks: list
    step: float       # what a step of the faulty program takes, about
    saved: float      # what is saved of that, about


def draw_size(chance, min_elements, max_elements):
    """In bytes: whole elements, any number of them, small ones as often as large ones."""
    return 8 * int(round(math.exp(chance.uniform(math.log(min_elements),
                                                 math.log(max_elements)))))


def draw_us(chance, low, high):
    return round(chance.uniform(low, high), 3)


def draw_swap(chance):
    """Size, what the swap takes, and the model's variables."""
    size = draw_size(chance, 8, 8192)
    latency, per_byte_ns = draw_us(chance, 20, 200), draw_us(chance, 0, 1)
    return size, latency + size * per_byte_ns / 1e3, {
        "MODEL_P2P": 1, "MODEL_LATENCY_US": latency, PER_BYTE_NS: per_byte_ns,
        "MODEL_POST_US": draw_us(chance, 0, 1)}


def draw_stencil(chance):
    """More inner work than the messages take."""
    size, swap, variables = draw_swap(chance)
    fraction = chance.choice([1, draw_us(chance, 0.5, 1)])
    inner, edge = swap * chance.uniform(1.2, 2.5), swap * chance.uniform(0.2, 0.8)
    taken = swap * fraction + 2 * swap * (1 - fraction) + inner + edge
    return Drawn([size, round(inner, 3), round(edge, 3)],
                 {**variables, "MODEL_FRACTION": fraction, "MODEL_WAIT_US": draw_us(chance, 0, 1)},
                 [overlap(name, size) for name in ("sendrecv", "isend", "irecv")],
                 taken, swap * fraction)


def draw_solver(chance):
    """Little of a non-blocking collective proceeds by itself, so that one for all is the best."""
    sums, collective = chance.randint(2, 5), draw_us(chance, 5, 50)
    work, update = collective * chance.uniform(1, 3), collective * chance.uniform(0.5, 2)
    return Drawn([sums, round(work, 3), round(update, 3)],
                 {"MODEL_COLL": 1, "MODEL_BLOCKING_US": collective,
                  "MODEL_DURATION_US": draw_us(chance, collective, 1.3 * collective),
                  PER_BYTE_NS: draw_us(chance, 0, 10), "MODEL_FRACTION": draw_us(chance, 0, 0.2)},
                 [overlap("iallreduce", 8, 64), synchronisations("allreduce 0 bytes",
                                                                 "allreduce 1 byte")],
                 work + update + sums * collective, (sums - 1) * collective)


def draw_transpose(chance):
    size, latency = draw_size(chance, 8, 8192), draw_us(chance, 10, 100)
    per_byte_ns = draw_us(chance, 0, 0.5)
    work = draw_us(chance, 100, 400)
    extra = round(work * chance.uniform(0.4, 1), 3)
    return Drawn([size, work, extra, chance.randrange(RANKS)],
                 {"MODEL_COLL": 1, "MODEL_BLOCKING_US": latency, "MODEL_DURATION_US": latency,
                  PER_BYTE_NS: per_byte_ns},
                 [overlap("ialltoall", size)],
                 work + extra + latency + size * per_byte_ns / 1e3, extra / RANKS)


def draw_halo(chance):
    fields, size = chance.randint(4, 32), draw_size(chance, 8, 256)
    latency, per_byte_ns = draw_us(chance, 5, 30), draw_us(chance, 0.05, 0.3)
    post, gap = draw_us(chance, 0.1, 0.5), draw_us(chance, 0.5, 4)
    agree = draw_us(chance, 5, 15)

    def swap(messages, each):
        return (messages * post + (messages - 1) * max(post, gap) + latency +
                each * per_byte_ns / 1e3)

    many, one = swap(fields, size), swap(1, fields * size)
    work = round(many * chance.uniform(0.3, 1.2), 3)
    return Drawn([fields, size, work],
                 {"MODEL_P2P": 1, "MODEL_LATENCY_US": latency, PER_BYTE_NS: per_byte_ns,
                  "MODEL_POST_US": post, "MODEL_GAP_US": gap, "MODEL_SYNC_COLL": 1,
                  "MODEL_BARRIER_US": agree},
                 [overlap("sendrecv", size, fields * size, max_time_s=0.06), rates(size),
                  overlap("iallreduce", 8, 16)],
                 many + agree + work, many - one)


def draw_puts(chance):
    """Flushes without puts take longer than the puts."""
    puts, size = chance.randint(1, 4), draw_size(chance, 1, 128)
    idle, flush = chance.randint(1, 4), draw_us(chance, 2, 20)
    latency, post, per_byte_ns = (draw_us(chance, 0.5, 5), draw_us(chance, 0, 0.3),
                                  draw_us(chance, 0, 0.5))
    put = puts * post + latency + size * per_byte_ns / 1e3
    work = round(idle * flush * chance.uniform(0.5, 2), 3)
    saved = idle * flush if put < 0.4 * idle * flush else 0.0
    return Drawn([puts, size, idle, work, chance.randint(5, 50)],
                 {"MODEL_RMA": 1, "MODEL_SYNC_US": flush, "MODEL_LATENCY_US": latency,
                  "MODEL_POST_US": post, PER_BYTE_NS: per_byte_ns},
                 [overlap("put", size), synchronisations("MPI barrier", "lock_all+flush")],
                 put + flush + idle * flush + work, saved)


def draw_balanced(chance):
    size, swap, variables = draw_swap(chance)
    inner, edge = swap * chance.uniform(1.2, 2.5), swap * chance.uniform(0.2, 0.8)
    return Drawn([size, round(inner, 3), round(edge, 3), chance.randint(50, 200)],
                 {**variables, "MODEL_SYNC_COLL": 1, "MODEL_BARRIER_US": draw_us(chance, 2, 10)},
                 [*(overlap(name, size) for name in ("sendrecv", "isend", "irecv")),
                  overlap("iallreduce", 8, 16)],
                 inner + edge, 0.0)


DRAWS = {"stencil": draw_stencil, "solver": draw_solver, "transpose": draw_transpose,
         "halo": draw_halo, "puts": draw_puts, "balanced": draw_balanced}


def draw(example, seed):
    """A trial on the model MPI, whose fault is worth mending."""
    chance = random.Random(f"{example} {seed}")
    while True:
        drawn = DRAWS[example](chance)
        if CHANGES[example] is None or drawn.saved >= MIN_SHARE * drawn.step:
            steps = max(100, int(RUN_S * 1e6 / drawn.step))
            return Trial(example, [steps, *drawn.arguments], drawn.variables, drawn.benchmarks)


# ---- on the real library -------------------------------------------------------------------------

SWAP = ("sendrecv", "isend", "irecv")
REAL_TIME_S = 0.3   # of a benchmark's row

# MPICH over TCP, also between ranks of one host.
TCP = {"MPIR_CVAR_NOLOCAL": 1, "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo",
       "UCX_RNDV_THRESH": "inf"}
EAGER = {"UCX_RNDV_THRESH": "inf"}


def real(example, arguments, variables, *benchmarks):
    return Trial(example, arguments, variables, list(benchmarks))


def real_overlap(name, min_bytes, max_bytes=None):
    return overlap(name, min_bytes, max_bytes, REAL_TIME_S)


def real_synchronisations(*types):
    return synchronisations(*types, max_time_s=REAL_TIME_S)


# Ranks share memory, or where a fault costs nothing then (a flush takes 15 ns, a field 0.1 us) talk
# by TCP. Nothing moves by itself between two ranks of a host, so that a stencil can't hide anything:
# it needs two.
ONE_HOST = {
    "solver": real("solver", [60000, 5, 1, 0.5], {}, real_overlap("iallreduce", 8, 64),
                   real_synchronisations("allreduce 0 bytes", "allreduce 1 byte")),
    "transpose": real("transpose", [4000, 8192, 60, 60, 1], {}, real_overlap("ialltoall", 8192)),
    "halo": real("halo", [2000, 8, 512, 50], TCP, real_overlap("sendrecv", 512, 4096),
                 rates(512, max_time_s=REAL_TIME_S), real_overlap("iallreduce", 8, 16)),
    "puts": real("puts", [1500, 1, 64, 100, 20, 100], TCP, real_overlap("put", 64),
                 real_synchronisations("MPI barrier", "lock_all+flush")),
    "balanced": real("balanced", [2000, 1024, 200, 20, 100], {},
                     *(real_overlap(name, 1024) for name in SWAP),
                     real_overlap("iallreduce", 8, 16)),
}
# 1 Gbit/s: 256 KiB take 2.1 ms, and a small message some 50 us.
TWO_HOSTS = {
    "stencil": real("stencil", [150, 262144, 3000, 300], EAGER,
                    *(real_overlap(name, 262144) for name in SWAP)),
    "solver": real("solver", [2000, 4, 60, 30], EAGER, real_overlap("iallreduce", 8, 64),
                   real_synchronisations("allreduce 0 bytes", "allreduce 1 byte")),
    "transpose": real("transpose", [600, 8192, 600, 600, 1], EAGER,
                      real_overlap("ialltoall", 8192)),
    "halo": real("halo", [2000, 8, 512, 50], EAGER, real_overlap("sendrecv", 512, 4096),
                 rates(512, max_time_s=REAL_TIME_S), real_overlap("iallreduce", 8, 16)),
    "puts": real("puts", [1500, 1, 64, 100, 20, 100], EAGER, real_overlap("put", 64),
                 real_synchronisations("MPI barrier", "lock_all+flush")),
    "balanced": real("balanced", [150, 65536, 3000, 300, 50], EAGER,
                     *(real_overlap(name, 65536) for name in SWAP),
                     real_overlap("iallreduce", 8, 16)),
}


# ---- runs ----------------------------------------------------------------------------------------

# MPICH 4.0.2 over TCP may wait in MPI_Finalize for ever.
STARTS, TIMED_OUT = 4, 124


class Machine:
    """Where a trial runs: how programs are started, on RANKS ranks."""

    __test__ = False

    def __init__(self, build, launcher, model=None):
        """`model`: the model MPI's library, if programs are to run on it."""
        self.build, self.launcher, self.model = build, launcher, model

    def built(self, name):
        there = os.path.join(self.build, name)
        assert os.path.exists(there), f"{there} was not built"
        return there

    def line(self, program, environment):
        """The command, and its environment where that is not in the command."""
        return self.launcher.line(RANKS, environment, program), None

    def start(self, program, variables, *libraries, timeout_s=30):
        """Runs a program with these libraries preloaded; returns what it prints."""
        environment = {name: str(value) for name, value in variables.items()}
        preloaded = [*libraries, *([self.model] if self.model else [])]
        if preloaded:
            environment["LD_PRELOAD"] = ":".join(preloaded)
        line, around = self.line([self.built(program[0]), *map(str, program[1:])], environment)
        line = ["timeout", str(timeout_s), *line]
        for _ in range(STARTS):
            done = subprocess.run(line, capture_output=True, text=True, env=around,
                                  stdin=subprocess.DEVNULL, check=False)
            if done.returncode != TIMED_OUT:
                break
        if done.returncode != 0:
            raise Failed(f"{' '.join(line)}: exit status {done.returncode}\n"
                         f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout


class TwoHosts(Machine):
    """The testbed's two hosts, with a rank on each."""

    __test__ = False

    def __init__(self, build, mpirun, testbed):
        super().__init__(build, None)
        self.before = testbed.launcher(mpirun).format(ranks=RANKS).split()

    def line(self, program, environment):
        """What is preloaded is for the program alone, not for the launcher."""
        preloaded = [f"{name}={value}" for name, value in environment.items()
                     if name == "LD_PRELOAD"]
        return ([*self.before, "env", *preloaded, *program],
                {**os.environ, **{name: value for name, value in environment.items()
                                  if name != "LD_PRELOAD"}})


def seconds_of(text):
    """What an example prints of its main loop."""
    lines = [line.split() for line in text.splitlines() if line.startswith("seconds ")]
    (_, seconds), = lines
    return float(seconds)


def truth_of(machine, trial, turns=3, max_turns=9):
    """The faulty and the mended program in turn, more often while runs differ. One without a fault
    saves nothing."""
    program = [f"tests/examples/{trial.example}", *trial.arguments]
    if CHANGES[trial.example] is None:
        own_s = seconds_of(machine.start(program, trial.variables))
        return Truth(own_s, own_s, 0.0)
    faulty, mended = [], []
    while True:
        faulty.append(seconds_of(machine.start(program, trial.variables)))
        mended.append(seconds_of(machine.start([*program, "mended"], trial.variables)))
        medians = statistics.median(faulty), statistics.median(mended)
        truth = Truth(*medians, math.hypot(medians[0] - min(faulty), medians[1] - min(mended)))
        if len(faulty) >= max_turns or (len(faulty) >= turns and
                                         truth.unknown_s <= KNOWN * abs(truth.saved_s)):
            return truth


def write_report(machine, trial, path):
    """The monitor's, of one run of the faulty program. Returns the run's seconds."""
    text = machine.start([f"tests/examples/{trial.example}", *trial.arguments],
                         {**trial.variables, "MPIRT_MONITOR": f"all,per-rank,output={path}"},
                         machine.built("monitor/libmpirtmon.so"))
    return seconds_of(text)


def write_results(machine, trial, folder, launches=LAUNCHES):
    """Of the trial's benchmarks: NAME-LAUNCH.tsv."""
    os.makedirs(folder, exist_ok=True)
    for launch in range(1, launches + 1):
        for benchmark in trial.benchmarks:
            text = machine.start([benchmark.program, *benchmark.options], trial.variables)
            name = f"{os.path.basename(benchmark.program)}-{launch}.tsv"
            with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                stream.write(text)


# ---- what is said of it --------------------------------------------------------------------------

class Saving(typing.NamedTuple):
    """A saving that was predicted, in seconds of the run."""

    __test__ = False
    change: str
    saved_s: float
    lo_s: float
    hi_s: float

    def __str__(self):
        return f"{self.change} saves {self.saved_s:.4f} s ({self.lo_s:.4f} to {self.hi_s:.4f})"

    def holds(self, change, truth_s):
        """Whether the interval has the truth, and this is the change."""
        return self.change == change and self.lo_s <= truth_s <= self.hi_s

    def error(self, truth_s):
        """As a share of the truth."""
        return self.saved_s / truth_s - 1 if truth_s > 0 else math.inf


NOTHING = Saving("none", 0.0, 0.0, 0.0)


def cost_rows(report, results):
    """What cost.sh makes of a report and results."""
    line = [sys.executable, COMMCOST, "cost", "--format=tsv", report, results]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise Failed(f"{' '.join(line)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return read_tsv(done.stdout)


def predicted(report, results):
    """The savings that the report and the results lead to, the greatest first."""
    return [Saving(row["change"], *(number(row[f"saved{end}_s"]) for end in ("", "_lo", "_hi")))
            for row in cost_rows(report, results) if row["kind"] == "saving"]


# The collective of an example by which it waits, in whose size in bytes the model's time grows.
COLLECTIVES = {"solver": "MPI_Allreduce", "transpose": "MPI_Alltoall"}


def is_by_bytes(trial):
    """Whether the bytes of a transposition take a third of its time or more, and their number is far
    from those that are measured."""
    size = trial.arguments[1]
    share = size * trial.variables[PER_BYTE_NS] / 1e3 / trial.variables["MODEL_BLOCKING_US"]
    return share >= 0.5 and 0.2 <= math.log2(size) % 1 <= 0.8


def own_cost_us(trial, rows):
    """What cost.sh says that a call of the example's collective costs by itself, and the truth."""
    row, = (row for row in rows
            if row["kind"] == "cost" and row["operation"] == COLLECTIVES[trial.example])
    truth_us = (trial.variables["MODEL_BLOCKING_US"] +
                number(row["size_bytes"]) * trial.variables[PER_BYTE_NS] / 1e3)
    return number(row["machine_us"]), truth_us


def main():
    if len(sys.argv) != 6 or sys.argv[3] not in CHANGES:
        print(f"usage: examples.py BUILD MPIRUN {'|'.join(CHANGES)} SEED|real FOLDER",
              file=sys.stderr)
        return 2
    build, mpirun, example, seed, folder = sys.argv[1:]
    build = os.path.abspath(build)
    on_model = seed != "real"
    machine = Machine(build, Launcher(mpirun.split()),
                      os.path.join(build, "tests/model/libmodelmpi.so") if on_model else None)
    trial = draw(example, int(seed)) if on_model else ONE_HOST[example]
    print(trial, flush=True)
    print(truth_of(machine, trial), flush=True)
    os.makedirs(folder, exist_ok=True)
    report = os.path.join(folder, "report.tsv")
    print(f"with the monitor {write_report(machine, trial, report):.4f} s", flush=True)
    write_results(machine, trial, os.path.join(folder, "results"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
