# SPDX-License-Identifier: BSD-3-Clause
"""Launches programs in virtual time, and compares what they find with the truth.

Standard library only. A test is a file of unittest's that ends with virtual.main(); CTest gives it
the build's folder (COMMCOST_BUILD) and how much to do (COMMCOST_TIER: plain, run, all or full).

    class Message(virtual.Test):
        def test_send(self):
            (launch,) = virtual.run("pingpong", "--patterns=MPI Send", MODEL_LATENCY_US=10)
            self.near(launch.rows[0]["latency_us"], 10, 0.05)
"""

import atexit
import csv
import hashlib
import math
import os
import re
import subprocess
import sys
import typing
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("COMMCOST_BUILD", os.path.join(FOLDER, "../../build")))
TIER = os.environ.get("COMMCOST_TIER", "run")

# Disturbances of the machine (clock.h), and how durations vary around their median. `cloud` takes 3 %
# of the time, `bad` 10 %.
CONDITIONS = {
    "ideal": {},
    "quiet": {"DISTURB": "250:4,2:50", "MODEL_JITTER": 0.005},
    "cloud": {"DISTURB": "3000:5,300:50", "MODEL_JITTER": 0.01},
    "bad": {"DISTURB": "2000:50", "MODEL_JITTER": 0.01},
    "jumps": {"DISTURB_JUMPS": "2:5:1.3", "MODEL_JITTER": 0.01},
    "varied": {"DISTURB": "250:4", "MODEL_JITTER": 0.1},
    "recorded": {"DISTURB_RECORDED": "epyc_interruptions.txt", "DISTURB_TIMES": "epyc_times.txt"},
}

digests = []


class Launch(typing.NamedTuple):
    """A launch's output, and the model's truth of it (truth.c)."""

    rows: list
    truths: list

    def truth(self, operation, size=None):
        """The row of an operation, of a number of bytes if one is given."""
        found = [row for row in self.truths if row["operation"] == operation and
                 size in (None, int(row["bytes"]))]
        assert found, "no {} of {} bytes among {}".format(operation, size, self.truths)
        return found[0]


def read_tsv(text):
    """The rows of a table as dictionaries; cells that are numbers are floats, NA is NAN."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [{name: value(cell) for name, cell in row.items()}
            for row in csv.DictReader(lines, delimiter="\t")]


def value(cell):
    if cell == "NA":
        return math.nan
    try:
        return float(cell)
    except ValueError:
        return cell


def run_raw(program, *options, **variables):
    """Runs a program in this folder, so that files in it have the same names everywhere; returns
    the finished process."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH")
                   if name in os.environ}
    environment.update({name: str(of) for name, of in variables.items()})
    return subprocess.run([os.path.join(BUILD, "tests/virtual", program), *map(str, options)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, env=environment, cwd=FOLDER, check=False)


def in_digest(program, text):
    """Returns the part of an output that the digest covers. Of checkup these are the lines of measurements: the others
    hold facts of the real machine."""
    if program != "checkup":
        return text
    return [line for line in text.splitlines() if "\tus\t" in line or "\tMB/s\t" in line]


def run(program, *options, ranks=2, launches=1, expect=0, options_not_in_digest=(), **variables):
    """Runs launches of a program in one job; returns what each printed. Variables are those of
    parameters.def and clock.h. Options with names of temporary files aren't in the digest."""
    report = os.path.join(BUILD, "tests/virtual", "truth.{}".format(os.getpid()))
    variables = dict(variables, VIRTUAL_RANKS=ranks, VIRTUAL_LAUNCHES=launches)
    done = run_raw(program, *options, *options_not_in_digest, "--columns=all", "--no-metadata", MODEL_REPORT=report, **variables)
    if done.returncode != expect:
        raise AssertionError("{} {}, {}: exit status {}\n{}{}".format(
            program, options, variables, done.returncode, done.stdout[-2000:], done.stderr[-4000:]))
    digests.append(hashlib.sha256(repr((program, options, sorted(variables.items()),
                                        in_digest(program, done.stdout))).encode()).hexdigest())
    parts = re.split("^# launch [0-9]+\n", done.stdout, flags=re.M)[1:] if launches > 1 else [
        done.stdout]
    found = []
    for number, text in enumerate(parts):
        name = "{}.{}".format(report, number) if launches > 1 else report
        with open(name, encoding="ascii") as stream:
            found.append(Launch(read_tsv(text), read_tsv(stream.read())))
        os.remove(name)
    return found


def guarantee(row, options=()):
    """The overlap suite's guarantee, by the numbers of a row as printed: the operation with the work takes no longer
    than without, and the work no longer than the operation. `options`: the launch's."""
    within = [float(option.split("=")[1]) for option in options if option.startswith("--acceptance-threshold=")]
    factor = 1 + (within or [0.5])[0] / 100
    longest_us = factor * row["ref_us"]
    if "--estimator=mean" in options:
        longest_us = row["ref_us"] + (0 if math.isnan(row["ref_sd_us"]) else row["ref_sd_us"])
        assert math.isnan(row["overlap_pct"]) or abs(
            row["overlap_pct"] - min(100, 100 * row["work_us"] / row["ref_us"])) < 0.01 + 0.1 / row["ref_us"], row
    else:
        # The interval reaches down to what the work shows.
        assert not row["overlap_lo_pct"] > 100 * (row["work_us"] + 0.001) / row["ref_us"] + 0.01, row
    assert row["total_us"] <= longest_us + 1e-9, row
    assert row["work_us"] <= factor * row["total_us"] + 1e-9, row


def has(program):
    """True if this MPI library has the calls that the program needs."""
    return os.path.exists(os.path.join(BUILD, "tests/virtual", program))


def by_tier(plain=None, run=None, all=None, full=None):  # pylint: disable=redefined-builtin
    """Returns the value for this tier, or for the tier before it."""
    chosen = None
    for tier, of in (("plain", plain), ("run", run), ("all", all), ("full", full)):
        chosen = of if of is not None else chosen
        if tier == TIER:
            return chosen
    raise ValueError(TIER)


# A result that is less probable than this is not chance.
IMPROBABLE = 0.001


def at_most(count, of, rate):
    """Returns the probability of at most `count` successes of `of`, each at this rate."""
    if rate in (0, 1):
        return float(rate == 0 or count >= of)
    return sum(math.exp(math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1) + k * math.log(rate) +
                        (of - k) * math.log1p(-rate)) for k in range(count + 1))


class Test(unittest.TestCase):
    """A test that prints its largest error. The class's text names the compared quantity and its truth, and
    `target` how far off it may be: a row of docs/accuracy.md."""

    maxDiff = None
    target = ""

    @classmethod
    def setUpClass(cls):
        cls.largest, cls.compared = (0.0, "none"), 0

    @classmethod
    def tearDownClass(cls):
        say("{}: largest error {:.3f} of its target ({})".format(cls.__name__, *cls.largest))
        if cls.compared > 0:
            text = cls.__doc__ or sys.modules[cls.__module__].__doc__
            note_row("ideal", cls.__name__, " ".join(text.split("\n\n")[0].split()), cls.compared,
                     cls.target or "in the test",
                     "{:.2f}".format(cls.largest[0]))

    def near(self, found, truth, target, what=""):
        """Fails unless a number is within `target` of the truth."""
        error = abs(found - truth) / target
        type(self).compared += 1
        name = "{}: {:.6g}, truth {:.6g}".format(what or self.id().split(".")[-1], found, truth)
        if error > type(self).largest[0]:
            type(self).largest = error, name
        if not error <= 1.0:
            self.fail("{}: {:.2f} targets off".format(name, error))


    def mostly(self, count, of, rate, what):
        """Fails if `count` of `of` is improbable for a rate of at least `rate`."""
        say("{}: {} of {}; promised: at least {:.4g}".format(what, count, of, rate))
        self.assertGreater(at_most(count, of, rate), IMPROBABLE, what)

    def rarely(self, count, of, rate, what):
        """Fails if `count` of `of` is improbable for a rate of at most `rate`."""
        say("{}: {} of {}; promised: at most {:.4g}".format(what, count, of, rate))
        self.assertGreater(at_most(of - count, of, 1 - rate), IMPROBABLE, what)


def say(text):
    print(text, flush=True)


def note_row(table, name, *cells):
    """A row of a table of docs/accuracy.md (accuracy.py)."""
    folder = os.path.join(BUILD, "tests/virtual/found")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "{}.{}".format(table, name)), "w", encoding="utf-8") as stream:
        stream.write("| {} |\n".format(" | ".join(map(str, cells))))


def write_digests():
    """Writes the digests of all outputs, for the check that they are the same everywhere."""
    folder = os.path.join(BUILD, "tests/virtual/digests")
    os.makedirs(folder, exist_ok=True)
    name = os.path.join(folder, "-".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]))
    with open(name, "w", encoding="ascii") as stream:
        stream.write("\n".join(digests) + "\n")


def main():
    atexit.register(write_digests)
    unittest.main(verbosity=2 if TIER != "plain" else 1)
