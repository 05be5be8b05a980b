"""Does what one launch says hold for the next one, on the real machine and the real MPI library?

Between launches (with --full): of ten launches of each program, how many intervals contain the
median of the other nine launches, and how wide are they against what launches differ by? With ranks
bound to cores and without.

Within a launch: a program measures the same row 16 times, and the intervals of these rows must
contain the median of the 16 values.
"""

import statistics
import time
import typing

import pytest

from accuracy import binomial_at_most
from mpi_run import number, read_tsv, run_raw
from trials import RATE, SIGNIFICANCE

LAUNCHES = 10
BOUND, UNBOUND, WIDTH = 0.70, 0.50, 3.0
VALUE_SHARE = 0.01  # launches need not agree better
REPEATED, REPEATED_TIME = 16, 0.25
QUICK = 4  # the first programs, without --full


class Program(typing.NamedTuple):
    """A program, and the columns of what it measures with those of its interval."""

    __test__ = False
    name: str
    options: list
    repeated: list  # options with which there are few rows
    quantities: dict


def time_columns(name):
    return {f"{name}_us": (f"{name}_lo_us", f"{name}_hi_us")}


PROGRAMS = [
    Program("overlap/overlap_iallreduce", ["--data-driven", "--max-num-elts=16K"],
            ["--data-driven", "--min-num-elts=1K", "--max-num-elts=1K"],
            {**time_columns("ref"), "overlap_pct": ("overlap_lo_pct", "overlap_hi_pct")}),
    Program("mpi_overhead/mpi_overhead", [], [],
            {"overhead": ("overhead_lo_us", "overhead_hi_us"), **time_columns("transfer")}),
    Program("halo/halo", ["--local=20x20x20"],
            ["--local=20x20x20", "--methods=isend/irecv types"], time_columns("latency")),
    Program("syncbench/syncbench", ["--types=MPI barrier,sync all,pairwise,fence"],
            ["--types=MPI barrier"], time_columns("sync")),
    Program("msgrate/msgrate", ["-p", "1"], ["-p", "1"], time_columns("iter")),
    Program("pingpong/pingpong", ["--patterns=put,MPI Send", "--arrangements=single",
                                  "--max-ndata=4K"],
            ["--patterns=MPI Send", "--arrangements=single", "--max-ndata=1"],
            time_columns("latency"))]


def intervals(row, program):
    """Of each quantity: its value and interval."""
    return {name: tuple(number(row[column]) for column in (name, *ends))
            for name, ends in program.quantities.items()}


# ---- between launches ----------------------------------------------------------------------------

def of_rows(launches):
    """What launches found of each row's quantities: lists of value, lo, hi."""
    return [[found[name] for found in row] for row in zip(*launches) for name in row[0]]


def hold_for_others(several):
    """Of each launch: whether its interval contains the median of the others."""
    for place, (_, low, high) in enumerate(several):
        others = statistics.median(value for other, (value, _, _) in enumerate(several)
                                   if other != place)
        yield low <= others <= high


def width_ratio(several):
    """The median width over what launches differ by."""
    values = [value for value, _, _ in several]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    width = statistics.median(high - low for _, low, high in several)
    return width / max(high - low, VALUE_SHARE * abs(statistics.median(values)), 1e-9)


@pytest.mark.full
@pytest.mark.parametrize("bind, least", [("core", BOUND), ("none", UNBOUND)])
def test_between_launches(bind, least, built, launcher, say):
    hold, widths = [], []
    for program in PROGRAMS:
        launches = []
        for _ in range(LAUNCHES):
            done = run_raw(launcher.bound() if bind == "core" else launcher, 2,
                           [built(program.name), *program.options])
            assert done.returncode == 0, done.stderr
            launches.append([intervals(row, program) for row in read_tsv(done.stdout)])
        rows = of_rows(launches)
        own = [held for several in rows for held in hold_for_others(several)]
        ratios = [width_ratio(several) for several in rows]
        say(f"{program.name}, --bind={bind}: {sum(own)} of {len(own)} intervals contain the median "
            f"of the other launches; width over what launches differ by: median "
            f"{statistics.median(ratios):.1f}")
        hold += own
        widths += ratios
    say(f"--bind={bind}: {sum(hold) / len(hold):.0%} of {len(hold)} intervals (target: "
        f"{least:.0%}), width ratio {statistics.median(widths):.1f} (target: {WIDTH:g})")
    assert sum(hold) >= least * len(hold)
    assert bind == "none" or statistics.median(widths) <= WIDTH


# ---- within a launch -----------------------------------------------------------------------------

@pytest.mark.parametrize("program", [
    pytest.param(program, id=program.name.split("/")[1],
                 marks=[] if place < QUICK else pytest.mark.full)
    for place, program in enumerate(PROGRAMS)])
def test_within_a_launch(program, rows_of, full, say):
    name = program.name.split("/")[1]
    hold, start_s = [], time.monotonic()
    for _ in range(5 if full else 1):
        rows = [intervals(row, program) for row in
                rows_of(f"tests/trials/repeated_{name}", *program.repeated,
                        f"--max-time={REPEATED_TIME}")]
        # All rows, then all again.
        different = len(rows) // REPEATED
        assert len(rows) == REPEATED * different, len(rows)
        for several in of_rows([rows[first:first + different]
                                for first in range(0, len(rows), different)]):
            assert len(several) == REPEATED
            hold += inside_of(several)
    say(f"{name}: {sum(hold)} of {len(hold)} intervals contain the median of {REPEATED} rows, "
        f"{time.monotonic() - start_s:.0f} s")
    assert binomial_at_most(sum(hold), len(hold), RATE) >= SIGNIFICANCE
    assert not full or sum(hold) >= RATE * len(hold)


def inside_of(several):
    middle = statistics.median(value for value, _, _ in several)
    return [low <= middle <= high for _, low, high in several]
