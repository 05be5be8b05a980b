"""Programs of others, unchanged under the monitor: lammps (molecular dynamics) and hpcc (the HPC
Challenge benchmarks), as Debian packages them. Both are linked with Open MPI, so these tests are for
builds with that library, and for machines where the packages are installed.

While everything is monitored, a program's results are the same as without the monitor; the report's
rows are the total time inside MPI; and that is within 1 % of what a timer around every call sees
(tests/monitor/every_call.py), or within what this timer takes itself: it is known of calls that do
nothing, one after another, and in hpcc, which tests for messages millions of times, each takes
nearly twice as long.

With --full also how much slower programs are: by their own clocks, in pairs of runs, one with and
one without the monitor, in random order. Pairs go on until the median of their ratios is known to
0.7 % (95 % interval by order statistics), at most 300. They are rows of BUILD/trials/slowdown.tsv; a
trial that was interrupted goes on there, unless the monitor was built anew.
"""

import os
import random
import re
import shutil
import time
import typing

import pytest

import bounds
from commcost.rank_test import median, median_interval
from mpi_run import number, read, read_tsv, run_raw

RANKS = 2
TIMER_TARGET = 0.01
# By how much a program may be slower, and the upper end of the interval of that.
SLOWER, SLOWER_HIGH, KNOWN_TO, PAIRS_MAX = 0.01, 0.02, 0.007, 300
# It tests for messages every 20 ns, and the monitor times each test, which takes two readings of the
# clock. So this part of hpcc loses what its tests cost: half of what a message and its wait may.
TESTING, TEST_S = "hpcc, RandomAccess", 50e-9
QUIET_LOST, QUIET_LOOKS = 0.05, 10
# Ranks that wait give up their processor, so that a launch on a busy machine ends in time.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": 1}
LAUNCH_SECONDS = 600


class Program(typing.NamedTuple):
    """A program, and how to read what it printed or wrote, as one text."""

    __test__ = False
    words: typing.Callable    # of the sources' folder and a size: its command
    inputs: typing.Callable   # of a size: the files that it reads where it runs, by name
    output: str               # the file that it writes; empty: stdout
    results: typing.Callable  # of the text: what doesn't depend on time
    seconds: typing.Callable  # of the text: how long its parts took by its own clock, by name
    quick: int                # sizes: for a short run ...
    timed: int                # ... and for one of a second or more


# ---- lammps --------------------------------------------------------------------------------------

def melt_results(text):
    """Energies, temperature and pressure every 50 steps, and the atoms and neighbours of ranks."""
    rows = re.findall(r"^ *\d+(?: +-?[\d.e+-]+){5} *$", text, re.M)
    counts = re.findall(r"^(?:Nlocal|Nghost|Neighs|Total #|Ave neighs|Neighbor list builds).*$",
                        text, re.M)
    assert len(rows) > 1 and len(counts) == 6, text
    return rows + counts


def melt_seconds(text):
    return {"lammps": float(re.search(r"^Loop time of (\S+) on 2 procs", text, re.M).group(1))}


# ---- hpcc ----------------------------------------------------------------------------------------

# Of the rows "name=value" of its summary.
HPCC_TIMES = re.compile(r"(?i)time|flops|GUPs|GBs|GBytes|usec|STREAM_(Copy|Scale|Add|Triad)")


def hpcc_input(size):
    """Debian's example, on a grid of as many processes as there are."""
    text = read("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    lines = text.splitlines()
    for words, value in (("Ns", size), ("Ps", 1), ("Qs", RANKS)):
        at, = (i for i, line in enumerate(lines[:13]) if line.split()[-1] == words)
        lines[at] = f"{value} {words}"
    return {"hpccinf.txt": "\n".join(lines) + "\n"}


def hpcc_summary(text):
    return dict(re.findall(r"^(\w+)=(.*)$", text[text.index("Begin of Summary"):], re.M))


def hpcc_results(text):
    summary = hpcc_summary(text)
    errors = {name for name in summary if name.endswith("_Errors")}
    assert summary["Success"] == "1"
    assert {summary[name] for name in errors} == {"0"} and len(errors) == 2
    assert text.count("PASSED") > 0 and "FAILED" not in text
    return {name: value for name, value in summary.items() if not HPCC_TIMES.search(name)}


def hpcc_seconds(text):
    """Its parts in which ranks communicate."""
    summary = hpcc_summary(text)

    def sum_of(*names):
        return sum(float(summary[name]) for name in names)

    bandwidth = re.search(r"^Execution time \(wall clock\) += +(\S+) sec", text, re.M)
    return {"hpcc": float(bandwidth.group(1)) + sum_of(
                "HPL_time", "PTRANS_time", *(f"MPIFFT_time{part}" for part in range(7))),
            TESTING: sum_of("MPIRandomAccess_time", "MPIRandomAccess_LCG_time")}


PROGRAMS = {
    "lammps": Program(lambda source, steps: ["/usr/bin/lmp", "-var", "steps", steps, "-in",
                                             f"{source}/tests/monitor/melt.in"],
                      lambda steps: {}, "", melt_results, melt_seconds, 200, 1000),
    "hpcc": Program(lambda source, size: ["/usr/bin/hpcc"],
                    hpcc_input, "hpccoutf.txt", hpcc_results, hpcc_seconds, 1000, 2000),
}


# ---- runs ----------------------------------------------------------------------------------------

@pytest.fixture(params=PROGRAMS)
def program(request, launcher):
    if not launcher.is_openmpi:
        pytest.skip("these programs are linked with Open MPI")
    path = PROGRAMS[request.param].words("", 0)[0]
    if not os.path.exists(path):
        pytest.skip(f"{path} is not installed (Debian's package {request.param})")
    return request.param


@pytest.fixture
def run(launcher, source, tmp_path):
    """Runs a program with input of a size and environment variables. Returns its text."""
    def text_of(name, size, **environment):
        program = PROGRAMS[name]
        folder = tmp_path / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file, text in program.inputs(size).items():
            (folder / file).write_text(text)
        done = run_raw(launcher, RANKS, ["env", "-C", folder, *program.words(source, size)],
                       environment, LAUNCH_SECONDS)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return read(folder / program.output) if program.output else done.stdout
    return text_of


@pytest.fixture
def monitor(built):
    return built("monitor/libmpirtmon.so")


def inside_s(rows, *kinds):
    """Time inside MPI that stands in rows of these kinds, of all ranks together."""
    return sum(number(row["in_calls_s"]) for row in rows
               if row["kind"] in kinds and row["rank"] == "NA")


def timed_s(prefix):
    """The same, as the timer sees it, and what the timer itself takes of that."""
    rows = [line.split() for rank in range(RANKS) for line in read(f"{prefix}.{rank}").splitlines()]
    return (sum(int(row[column]) * 1e-9 for row in rows) for column in (2, 3))


def test_results_and_times(program, run, monitor, built, tmp_path, accuracy):
    """The timer lies between the monitor and the MPI library, and adds to what the monitor sees: a
    timed call has that, too (tests/monitor/every_call.py)."""
    report, timer = tmp_path / "report.tsv", tmp_path / "timer"
    plain = PROGRAMS[program].results(run(program, PROGRAMS[program].quick, **YIELD))

    def errors():
        report.unlink(missing_ok=True)
        text = run(program, PROGRAMS[program].quick, MPIRT_MONITOR=f"all,output={report}",
                   LD_PRELOAD=f"{monitor}:{built('tests/monitor/libeverycall.so')}",
                   EVERY_CALL=timer, **YIELD)
        assert PROGRAMS[program].results(text) == plain
        said = read(report)
        assert "could not be followed" not in said
        # Both call MPI_Init, which promises no more.
        assert "# thread_level: MPI_THREAD_SINGLE\n" in said
        rows = read_tsv(said)
        total_s = inside_s(rows, "total")
        seen_s, by_timer_s = timed_s(timer)
        return {"rows": inside_s(rows, "pttopt", "coll", "calls") / total_s - 1,
                "total": total_s / seen_s - 1, "timer": by_timer_s / seen_s}

    def allowed(found):
        return {"rows": TIMER_TARGET, "total": max(TIMER_TARGET, found["timer"])}

    accuracy.check(f"time inside MPI of {program}", errors, launches=1, fixed=allowed)


# ---- how much slower -----------------------------------------------------------------------------

class Pairs:
    """The pairs of runs of all programs, in a file."""

    __test__ = False

    COLUMNS = ["program", "first", "plain_s", "monitored_s"]

    def __init__(self, path, library):
        self.path = path
        self.rows = []
        if os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(library):
            self.rows = read_tsv(read(path))
        else:
            with open(path, "w", encoding="utf-8") as stream:
                print(*self.COLUMNS, sep="\t", file=stream)

    def append(self, *cells):
        with open(self.path, "a", encoding="utf-8") as stream:
            print(*cells, sep="\t", file=stream)
        self.rows.append(dict(zip(self.COLUMNS, map(str, cells))))

    def ratios(self, program):
        """Of the time with the monitor to that without, less 1."""
        return [float(row["monitored_s"]) / float(row["plain_s"]) - 1
                for row in self.rows if row["program"] == program]


@pytest.fixture
def pairs(build, monitor):
    folder = os.path.join(build, "trials")
    os.makedirs(folder, exist_ok=True)
    return Pairs(os.path.join(folder, "slowdown.tsv"), monitor)


def wait_for_quiet():
    """Until little of the processors' time is lost, but not for long: a pair's runs are as good as
    the machine is quiet."""
    for _ in range(QUIET_LOOKS):
        if bounds.Bounds.look() <= QUIET_LOST:
            break
        time.sleep(1)


@pytest.mark.full
def test_slowdown(program, run, monitor, pairs, tmp_path, say):
    report = tmp_path / "report.tsv"

    def seconds(is_monitored):
        environment = {} if not is_monitored else {
            "LD_PRELOAD": monitor, "MPIRT_MONITOR": f"all,output={report}"}
        return PROGRAMS[program].seconds(run(program, PROGRAMS[program].timed, **environment))

    def interval(name=program):
        return median_interval(pairs.ratios(name), 0.95)

    def is_known():
        return interval() is not None and interval().high - interval().low <= 2 * KNOWN_TO

    while not is_known() and len(pairs.ratios(program)) < PAIRS_MAX:
        wait_for_quiet()
        order = random.sample([False, True], 2)
        took_s = {is_monitored: seconds(is_monitored) for is_monitored in order}
        for name in took_s[True]:
            pairs.append(name, "monitored" if order[0] else "plain", took_s[False][name],
                         took_s[True][name])
    slower = {name: median(pairs.ratios(name)) for name in (program, TESTING)
              if pairs.ratios(name)}
    for name, ratio in slower.items():
        if name.startswith(program):
            say(f"{name}: {ratio:+.2%} slower ({interval(name).low:+.2%} to "
                f"{interval(name).high:+.2%}), {len(pairs.ratios(name))} pairs")
    assert slower[program] <= SLOWER
    assert interval().high <= SLOWER_HIGH
    if program == "hpcc":
        seconds(True)
        tests = sum(int(row["calls"]) for row in read_tsv(read(report))
                    if row["operation"] == "MPI_Testany" and row["rank"] == "NA") / RANKS
        lost_s = median([float(row["monitored_s"]) - float(row["plain_s"]) for row in pairs.rows
                         if row["program"] == TESTING])
        say(f"{TESTING}: {lost_s / tests * 1e9:.0f} ns a test")
        assert lost_s <= tests * TEST_S
