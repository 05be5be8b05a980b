# SPDX-License-Identifier: BSD-3-Clause
"""Runs a benchmark under the model MPI and reads its rows and the truth."""

import csv
import math
import os
import re
import signal
import subprocess
import tempfile


SUITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../run_scripts/suite.list")

# Operations of the programs overlap_*: collectives, as suite.list has them; messages and one-sided
# transfers between pairs of ranks, of which not every MPI library has partitioned ones; and halo.
# And those of them that every library has and that have a number of elements.
with open(SUITE, encoding="utf-8") as _suite:
    (COLLECTIVES,) = [line.split()[1:] for line in _suite if line.startswith("collectives:")]
PAIRS = ["get", "irecv", "isend", "put", "sendrecv"]
OPERATIONS = [*COLLECTIVES, *PAIRS, "halo"]
WITH_ELEMENTS = [name for name in OPERATIONS if name not in ("ibarrier", "halo")]


class Launcher:
    """mpirun with its flags, and how it passes on environment variables."""

    virtual = False  # programs run in virtual time where they can

    def __init__(self, command):
        self.command = list(command)
        self.is_openmpi = any("openmpi" in word or "oversubscribe" in word
                              for word in self.command)

    def line(self, ranks, environment, program):
        """The command. Programs run in virtual time (tests/virtual) where all do, and where they
        have variables of the model MPI; with a library of their own they don't."""
        if any(name.startswith("MODEL_") for name in environment) or (
                self.virtual and "LD_PRELOAD" not in environment and
                any(in_virtual_time(word) != str(word) for word in program)):
            variables = {"VIRTUAL_RANKS": ranks, **environment}
            return ["env", *(f"{name}={value}" for name, value in variables.items()),
                    *map(in_virtual_time, program)]
        words = self.command + ["-np", str(ranks)]
        for name, value in environment.items():
            words += (["-x", f"{name}={value}"] if self.is_openmpi
                      else ["-genv", name, str(value)])
        return words + [str(word) for word in program]

    def behind(self, words):
        """The same, started by a command of these words."""
        made = Launcher([*words, *self.command])
        made.is_openmpi = self.is_openmpi
        return made

    def bound(self):
        """The same, with ranks bound to cores."""
        made = Launcher([*self.command, "--bind-to" if self.is_openmpi else "-bind-to", "core"])
        made.is_openmpi = self.is_openmpi
        return made


def in_virtual_time(word):
    """The path of a program of the build, as it is in virtual time; all else stays."""
    build, name = os.path.dirname(os.path.dirname(str(word))), os.path.basename(str(word))
    there = os.path.join(build, "tests", "virtual", name)
    return there if os.path.isabs(str(word)) and os.path.exists(there) else str(word)


def available_gib():
    """The memory that programs can have."""
    with open("/proc/meminfo", encoding="ascii") as stream:
        return int(re.search("MemAvailable: +([0-9]+) kB", stream.read())[1]) / (1 << 20)


class Failed(Exception):
    """A program failed; the text has its output."""

    __test__ = False


def read(path):
    """A file's text."""
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def read_if_there(path):
    """The same; nothing where there is no such file."""
    try:
        return read(path)
    except OSError:
        return ""


def read_tsv(text):
    """The rows of a result as dictionaries, comments left out."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def number(cell):
    """A cell's number; NAN for NA."""
    return math.nan if cell == "NA" else float(cell)


def call(words, **how):
    """Runs a command; returns the finished process with its texts. Of Python 3.6: no capture_output."""
    return subprocess.run([str(word) for word in words], **{
        "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
        "universal_newlines": True, "check": False, **how})


def ask_ctest(build, *options):
    """Returns CTest's output on a build's tests. It runs in a folder of its own, since it overwrites the log of a build,
    which the run of tests that asks here is still writing."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as stream:
            stream.write(f'subdirs("{os.path.abspath(build)}")\n')
        return call(["ctest", "--test-dir", folder, *options], check=True).stdout


# Options with which a program writes the whole result to stdout.
WHOLE = ["--columns=all", "--metadata=full"]


def run_raw(launcher, ranks, program, environment=None, timeout_s=300):
    """Runs a program; returns the finished process with its texts."""
    line = launcher.line(ranks, environment or {}, program)
    try:
        done = call(line, timeout=timeout_s)
        # MPICH's mpirun itself dies of SIGPIPE in 1 of 100 starts of what ends at once, /bin/echo too.
        return done if done.returncode != -signal.SIGPIPE or not launcher.command else call(line, timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{' '.join(line)}: no end after {timeout_s} s") from error


def run(launcher, ranks, program, environment=None, timeout_s=120, expect=(0,)):
    """Runs a benchmark; returns its exit status and its rows, with all columns."""
    done = run_raw(launcher, ranks, [*program, *WHOLE], environment, timeout_s)
    if done.returncode not in expect:
        raise Failed(f"{' '.join(done.args)}: exit status {done.returncode}\n"
                     f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.returncode, read_tsv(done.stdout)


def run_and_dump(launcher, ranks, program, **how):
    """Runs a program; returns its rows, and of each row the samples that
    --dump-samples writes, in ns."""
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "samples.tsv")
        rows = run(launcher, ranks, program + [f"--dump-samples={dump}"],
                   **how)[1]
        samples = [[] for _ in rows]
        with open(dump, encoding="utf-8") as stream:
            for line in read_tsv(stream.read()):
                samples[int(line["row"]) - 1].append(float(line["value_ns"]))
        return rows, samples


def total_error(row, samples_ns):
    """By how many times its tolerance a row's time_s is off from its samples, which are times a
    repetition; and nrep from a whole number of these for each of them."""
    batch, rest = divmod(int(row["nrep"]), len(samples_ns))
    if rest != 0 or int(row["samples"]) != len(samples_ns):
        return math.inf
    tolerance_s = 0.6e-6 + 0.1e-9 * int(row["nrep"])
    return abs(float(row["time_s"]) - sum(samples_ns) * batch * 1e-9) / tolerance_s


def assert_of_samples(row, samples_ns, ndata, latencies=1):
    """A row's latency, bandwidth and total are those of its three samples, each of which is the
    time of `latencies` latencies, in which `ndata` numbers arrive."""
    assert (row["samples"], row["check"]) == ("3", "off")
    latency_us, mib = number(row["latency_us"]), 8 * ndata / 1048576
    assert abs(number(row["bwidth_mbs"]) * latency_us * 1e-6 - mib) <= 0.01 * mib, row
    assert total_error(row, samples_ns) < 1.0, row
    # The clock's cost is in the samples alone.
    middle_ns, batch = sorted(samples_ns)[1], int(row["nrep"]) // 3
    assert latency_us <= middle_ns / latencies / 1e3 + 0.001, row
    assert latency_us > (middle_ns - 1e3 / batch) / latencies / 1e3 - 0.001, row


def assert_without_time(row):
    """A row with no time at all is from one sample or more, and has an interval only from six, or
    from two visits."""
    assert int(row["samples"]) >= 1, row
    assert row["status"] in ("ok", "budget"), row
    assert number(row["latency_us"]) > 0.0, row
    if int(row["samples"]) < 6 and row["visits"] == "1":
        assert (row["latency_lo_us"], row["latency_hi_us"], row["status"]) == ("NA", "NA", "budget")


def assert_checked(done, wrong):
    """Fails unless all rows of a run with --check have the right verdict on their data. Returns the rows."""
    rows = read_tsv(done.stdout)
    context = done.stdout[-1500:] + done.stderr
    assert rows, context
    assert done.returncode == int(wrong), context
    for row in rows:
        assert row["check"] == ("FAIL" if wrong else "ok"), row
        assert (row["status"] == "FAIL") == wrong, row
        # A sample is a repetition then.
        assert row["nrep"] == row["samples"], row
    return rows


def run_on_model(program, ranks=2, **variables):
    """Runs a program in virtual time, with MODEL_ variables. Returns its rows, and those in which
    the model states the truth (tests/virtual/truth.c)."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "truth.tsv")
        _, rows = run(Launcher([]), ranks, program, {"MODEL_REPORT": report, **variables})
        return rows, read_tsv(read(report))


def assert_refused(done, program, named):
    """One line on stderr from the program of that name, which names what is wrong; exit 2; no
    output. Returns the line."""
    assert (done.returncode, done.stdout) == (2, ""), (done.args, done.stderr)
    ours = [line for line in done.stderr.splitlines() if line.startswith(program + ": ")]
    assert len(ours) == 1, (done.args, done.stderr)
    assert named in ours[0], done.args
    return ours[0]
