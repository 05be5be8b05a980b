"""Is what a benchmark times that of a bare loop?

Programs of this folder time both and print the figures. Launches differ by some percent in either
direction, so there are many.
"""

import re

import pytest

from mpi_run import run_raw

RATIO_LAUNCHES = 7
MSGRATE_PATTERNS = 4
LAUNCHES, ENOUGH, TARGET_US = 10, 9, 0.1


@pytest.fixture
def figures(launcher, built):
    """The numbers that a program prints where these expressions have a group."""
    def found(program, *expressions):
        done = run_raw(launcher, 2, [built(f"tests/accuracy/{program}"), "--no-header"])
        return [float(re.search(expression, done.stdout).group(1)) for expression in expressions]
    return found


@pytest.fixture
def check(accuracy, figures):
    """Fails if the median of a program's ratios isn't so near 1."""
    def ratio_is_near_1(program, target):
        ratios = []

        def launch():
            ratios.extend(figures(program, r"(\S+) of the bare loop's"))
            return {"ratio": ratios[-1] - 1}

        accuracy.check(program, launch, target, launches=RATIO_LAUNCHES, text=lambda _: " ".join(
            ["ratios:", *map(str, ratios[-RATIO_LAUNCHES:])]))
    return ratio_is_near_1


def test_pingpong_bare(check):
    check("pingpong_bare", 0.02)


def test_halo_bare(check):
    check("halo_bare", 0.05)


def test_monitor_pingpong(check):
    check("monitor_pingpong", 0.02)


def test_msgrate_bare(accuracy, launcher, built):
    """A program that prints the ratio of each pattern."""
    def launch():
        done = run_raw(launcher, 2, [built("tests/accuracy/msgrate_bare"), "--no-header"])
        ratios = re.findall(r"^(.*): rate (\S+) of the bare loop's", done.stdout, re.M)
        assert len(ratios) == MSGRATE_PATTERNS, done.stdout
        return {pattern: float(ratio) - 1 for pattern, ratio in ratios}

    accuracy.check("msgrate_bare", launch, 0.02, launches=RATIO_LAUNCHES)


def test_syncbench_bare(accuracy, figures, say):
    """In at least 9 of 10 launches the barrier's time is within 0.1 us of the bare loop's, and its
    interval is no wider than that to either side."""
    def several():
        errors_us = []
        for _ in range(LAUNCHES):
            sync_us, half_width_us, bare_us = figures(
                "syncbench_bare", r"sync_us (\S+)", r"half_width_us (\S+)", r"bare_us (\S+)")
            errors_us.append(max(abs(sync_us - bare_us), half_width_us))
            say(f"{sync_us:.3f} +- {half_width_us:.3f} us, bare {bare_us:.3f} us")
        return {"within": sorted(errors_us)[ENOUGH - 1], "largest": max(errors_us)}

    accuracy.check("syncbench_bare", several, fixed={"within": TARGET_US}, launches=1,
                   text=lambda us: f"{ENOUGH} of {LAUNCHES} launches within {us['within']:.3f} us, "
                                   f"largest error {us['largest']:.3f} us")
