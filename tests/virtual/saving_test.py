# SPDX-License-Identifier: BSD-3-Clause
"""Does the cost of a program's communication, told from a monitor's report and benchmarks' results,
lead to the change that saves time, and to what it really saves?

Programs with one known fault each (tests/programs/examples), of which a mended version is there, too: its
time, beside the faulty one's, is the truth. All of the programs' numbers and the machine's times are
drawn at random. A trial holds if the first saving that cost.sh predicts is the right change, its
interval has the truth, and it is within OFF of the truth."""

import collections
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import typing

import monitored
import virtual

COMMCOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../run_scripts/commcost")
RANKS, LAUNCHES = 2, 2
RUN_US = 3e4         # that a faulty run takes, about
MIN_SHARE = 0.12     # of it that the mended program saves
OFF = 0.10           # of what is saved
OUTSIDE = 0.005      # of it, of an interval, which is narrow on an ideal machine
OWN_COST_OFF = 0.01  # of the undisturbed cost of a call

# All but a comparison of clocks, which takes long where a test takes little of a message's time.
WORDS = "pttopt,coll,calls,sizes,comm,msgsize,traffic,per-rank"

# The change that mends each program's fault; None: there is none.
CHANGES = {"stencil": "hide", "solver": "merge-collectives", "transpose": "balance",
           "halo": "merge-messages", "puts": "drop-flushes", "balanced": None}


class Drawn(typing.NamedTuple):
    """A trial of a program; times in us."""

    arguments: list   # without the number of steps
    machine: dict     # parameters.def
    benchmarks: list  # with their options
    step: float       # what a step of the faulty program takes, about
    saved: float      # what is saved of that, about


# ---- benchmarks ----------------------------------------------------------------------------------

def sizes_around(min_bytes, max_bytes, unit):
    return (1 << max(0, int(math.log2(min_bytes / unit))),
            1 << max(0, math.ceil(math.log2((max_bytes or min_bytes) / unit))))


def overlap(name, min_bytes, max_bytes=None):
    """At sizes on both sides of these."""
    smallest, largest = sizes_around(min_bytes, max_bytes, 8)
    return ["overlap_" + name, "--data-driven", "--min-num-elts={}".format(smallest),
            "--max-num-elts={}".format(largest)]


def synchronisations(*types):
    return ["syncbench", "--types=" + ",".join(types)]


def rates(size):
    return ["msgrate", "--peers=1", "--cache=0", "--size={}:{}".format(*sizes_around(size, size, 1))]


# ---- what is drawn -------------------------------------------------------------------------------

def draw_size(chance, min_elements, max_elements):
    """In bytes: whole elements, any number of them, small ones as often as large ones."""
    return 8 * int(round(math.exp(chance.uniform(math.log(min_elements), math.log(max_elements)))))


def draw_us(chance, low, high):
    return round(chance.uniform(low, high), 3)


def draw_swap(chance):
    """Size, what the swap takes, and the machine."""
    size = draw_size(chance, 8, 8192)
    latency, per_byte_ns = draw_us(chance, 20, 200), draw_us(chance, 0, 1)
    return size, latency + size * per_byte_ns / 1e3, {
        "MODEL_LATENCY_US": latency, "MODEL_PER_BYTE_NS": per_byte_ns,
        "MODEL_POST_US": draw_us(chance, 0.01, 1)}


def draw_stencil(chance):
    """More inner work than the messages take."""
    size, swap, machine = draw_swap(chance)
    fraction = chance.choice([1, draw_us(chance, 0.5, 1)])
    inner, edge = swap * chance.uniform(1.2, 2.5), swap * chance.uniform(0.2, 0.8)
    return Drawn([size, round(inner, 3), round(edge, 3), 0],
                 dict(machine, MODEL_FRACTION=fraction, MODEL_WAIT_US=draw_us(chance, 0, 1)),
                 [overlap(name, size) for name in ("sendrecv", "isend", "irecv")],
                 swap * fraction + 2 * swap * (1 - fraction) + inner + edge, swap * fraction)


def draw_solver(chance):
    """Little of a non-blocking collective proceeds alone, so that one for all is the best."""
    sums, collective = chance.randint(2, 5), draw_us(chance, 5, 50)
    work, update = collective * chance.uniform(1, 3), collective * chance.uniform(0.5, 2)
    return Drawn([sums, round(work, 3), round(update, 3)],
                 {"MODEL_BLOCKING_US": collective,
                  "MODEL_DURATION_US": draw_us(chance, collective, 1.3 * collective),
                  "MODEL_PER_BYTE_NS": draw_us(chance, 0, 10), "MODEL_FRACTION": draw_us(chance, 0, 0.2)},
                 [overlap("iallreduce", 8, 64), synchronisations("allreduce 0 bytes", "allreduce 1 byte")],
                 work + update + sums * collective, (sums - 1) * collective)


def draw_transpose(chance):
    size, latency = draw_size(chance, 8, 8192), draw_us(chance, 10, 100)
    per_byte_ns, work = draw_us(chance, 0, 0.5), draw_us(chance, 100, 400)
    extra = round(work * chance.uniform(0.4, 1), 3)
    return Drawn([size, work, extra, chance.randrange(RANKS)],
                 {"MODEL_BLOCKING_US": latency, "MODEL_DURATION_US": latency,
                  "MODEL_PER_BYTE_NS": per_byte_ns},
                 [overlap("ialltoall", size)],
                 work + extra + latency + size * per_byte_ns / 1e3, extra / RANKS)


def draw_halo(chance):
    fields, size = chance.randint(4, 32), draw_size(chance, 8, 256)
    latency, per_byte_ns = draw_us(chance, 5, 30), draw_us(chance, 0.05, 0.3)
    post, gap, agree = draw_us(chance, 0.1, 0.5), draw_us(chance, 0.5, 4), draw_us(chance, 5, 15)

    def swap(messages, each):
        return messages * post + (messages - 1) * max(post, gap) + latency + each * per_byte_ns / 1e3

    many, one = swap(fields, size), swap(1, fields * size)
    work = round(many * chance.uniform(0.3, 1.2), 3)
    return Drawn([fields, size, work],
                 {"MODEL_LATENCY_US": latency, "MODEL_PER_BYTE_NS": per_byte_ns, "MODEL_POST_US": post,
                  "MODEL_GAP_US": gap, "MODEL_BARRIER_US": agree, "MODEL_DURATION_US": agree},
                 [overlap("sendrecv", size, fields * size), rates(size), overlap("iallreduce", 8, 16)],
                 many + agree + work, many - one)


def draw_puts(chance):
    """Flushes without puts take longer than the puts."""
    puts, size = chance.randint(1, 4), draw_size(chance, 1, 128)
    idle, flush = chance.randint(1, 4), draw_us(chance, 2, 20)
    latency, post, per_byte_ns = (draw_us(chance, 0.5, 5), draw_us(chance, 0.01, 0.3),
                                  draw_us(chance, 0, 0.5))
    put = puts * post + latency + size * per_byte_ns / 1e3
    work = round(idle * flush * chance.uniform(0.5, 2), 3)
    return Drawn([puts, size, idle, work, chance.randint(5, 50)],
                 {"MODEL_SYNC_US": flush, "MODEL_LATENCY_US": latency, "MODEL_POST_US": post,
                  "MODEL_PER_BYTE_NS": per_byte_ns},
                 [overlap("put", size), synchronisations("MPI barrier", "lock_all+flush")],
                 put + flush + idle * flush + work, idle * flush if put < 0.4 * idle * flush else 0.0)


def draw_balanced(chance):
    size, swap, machine = draw_swap(chance)
    inner, edge = swap * chance.uniform(1.2, 2.5), swap * chance.uniform(0.2, 0.8)
    agree = draw_us(chance, 2, 10)
    return Drawn([size, round(inner, 3), round(edge, 3), chance.randint(50, 200), "mended"],
                 dict(machine, MODEL_BARRIER_US=agree, MODEL_DURATION_US=agree),
                 [*(overlap(name, size) for name in ("sendrecv", "isend", "irecv")),
                  overlap("iallreduce", 8, 16)],
                 inner + edge, 0.0)


DRAWS = {"stencil": draw_stencil, "solver": draw_solver, "transpose": draw_transpose,
         "halo": draw_halo, "puts": draw_puts, "balanced": draw_balanced}


def draw(example, seed):
    """A trial whose fault is worth mending."""
    chance = random.Random("{} {}".format(example, seed))
    while True:
        drawn = DRAWS[example](chance)
        if CHANGES[example] is None or drawn.saved >= MIN_SHARE * drawn.step:
            return drawn._replace(arguments=[max(100, int(RUN_US / drawn.step)), *drawn.arguments])


# ---- runs ----------------------------------------------------------------------------------------

class Saving(typing.NamedTuple):
    """That was predicted, in seconds of the run."""

    change: str
    saved_s: float
    lo_s: float
    hi_s: float


NOTHING = Saving("none", 0.0, 0.0, 0.0)


def run(program, *arguments, launches=1, **machine):
    done = virtual.run_raw(program, *arguments, VIRTUAL_RANKS=RANKS, VIRTUAL_LAUNCHES=launches, **machine)
    if done.returncode != 0:
        raise AssertionError("{} {} {}: {}".format(program, arguments, machine, done.stderr[-2000:]))
    return done.stdout


def program_of(example):
    return "example_" + {"balanced": "stencil"}.get(example, example)


def seconds(example, drawn, *words):
    """Returns the time of the main loop."""
    text = run(program_of(example), *drawn.arguments, *words, **drawn.machine)
    return float(re.search("^seconds (.*)", text, re.M).group(1))


def write_results(drawn, folder):
    """Of the trial's benchmarks: NAME-LAUNCH.tsv."""
    for name, *options in drawn.benchmarks:
        text = run(name, *options, "--max-time=0.02", "--output=/dev/stdout",
                   launches=LAUNCHES, **drawn.machine)
        parts = re.split("^# launch [0-9]+\n", text, flags=re.M)[1:]
        for launch, part in enumerate(parts):
            path = os.path.join(folder, "{}-{}.tsv".format(name, launch))
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(part)


def cost_rows(report, results):
    """Returns the rows that cost.sh makes of a report and results."""
    done = subprocess.run([sys.executable, COMMCOST, "cost", "--format=tsv", report, results],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr[-2000:])
    return virtual.read_tsv(done.stdout)


class Savings(virtual.Test):
    target = "10 % of what is saved; 1 % of a cost"

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def rows(self, example, drawn):
        """Returns the rows of a trial."""
        folder = tempfile.mkdtemp(dir=self.folder)
        results, report = os.path.join(folder, "results"), os.path.join(folder, "report.tsv")
        os.mkdir(results)
        write_results(drawn, results)
        monitored.run(program_of(example), *drawn.arguments, words=WORDS, report=report,
                      **drawn.machine)
        return cost_rows(report, results)

    def check(self, example, seed):
        drawn = draw(example, seed)
        faulty_s = seconds(example, drawn)
        truth_s = faulty_s - seconds(example, drawn, "mended") if CHANGES[example] else 0.0
        rows = self.rows(example, drawn)
        savings = [Saving(row["change"], row["saved_s"], row["saved_lo_s"], row["saved_hi_s"])
                   for row in rows if row["kind"] == "saving"]
        first = savings[0] if savings else NOTHING
        what = "{} {}: {}; truth {:.6f} s of {:.6f} s; {}".format(example, seed, savings[:2], truth_s,
                                                              faulty_s, drawn)
        self.assertEqual(first.change, CHANGES[example] or NOTHING.change, what)
        if CHANGES[example]:
            self.near(first.saved_s, truth_s, OFF * truth_s, what)
        slack_s = OUTSIDE * truth_s
        self.assertTrue(first.lo_s - slack_s <= truth_s <= first.hi_s + slack_s, what)
        self.check_own_cost(example, drawn, rows, what)

    def check_own_cost(self, example, drawn, rows, what):
        """The undisturbed cost that cost.sh names of a call of the example's collective."""
        name = {"solver": "MPI_Allreduce", "transpose": "MPI_Alltoall"}.get(example)
        for row in rows:
            if row["kind"] == "cost" and row["operation"] == name:
                truth_us = (drawn.machine["MODEL_BLOCKING_US"] +
                            row["size_bytes"] * drawn.machine["MODEL_PER_BYTE_NS"] / 1e3)
                self.near(row["machine_us"], truth_us, OWN_COST_OFF * truth_us, "own cost in " + what)

    def test_trials(self):
        count, held = virtual.by_tier(plain=0, run=1, all=3, full=100), collections.Counter()
        trials = [(example, seed) for example in CHANGES for seed in range(1, count + 1)]
        for example, seed in trials or [("solver", 1), ("puts", 1)]:
            with self.subTest(example, seed=seed):
                self.check(example, seed)
                held[example] += 1
        virtual.say("trials that hold: {}".format(dict(held)))


if __name__ == "__main__":
    virtual.main()
