"""Is what a benchmark times that of a bare loop?

Programs of this folder time both, in turn, and print both. Launches differ by some percent in
either direction, so there are many.
"""

import re

import pytest

from accuracy import median
from mpi_run import number, run_raw

RATIO_LAUNCHES = 7
LAUNCHES, ENOUGH, TARGET_US, WIDER = 10, 9, 0.1, 0.1


@pytest.fixture
def compared(rows_of):
    """A launch's rows: a benchmark's times and those of its bare loop."""
    def launch(program, seconds=0.5):
        return rows_of(f"tests/accuracy/{program}", f"--max-time={seconds}")
    return launch


@pytest.fixture
def check(accuracy, compared):
    """Fails if the median of a row's ratios isn't so near 1."""
    def ratios_are_near_1(program, target):
        ratios = []

        def launch():
            found = {row["name"]: number(row["ratio"]) - 1 for row in compared(program)}
            ratios.append(found)
            return found

        def text(_):
            return "; ".join(f"{name}: " + " ".join(f"{found[name]:+.1%}" for found in
                                                    ratios[-RATIO_LAUNCHES:]) for name in ratios[0])

        accuracy.check(program, launch, target, launches=RATIO_LAUNCHES, text=text)
    return ratios_are_near_1


def test_pingpong_bare(check):
    check("pingpong_bare", 0.02)


def test_halo_bare(check):
    check("halo_bare", 0.05)


def test_msgrate_bare(check):
    check("msgrate_bare", 0.02)


def test_monitor_pingpong(accuracy, launcher, built):
    def launch():
        done = run_raw(launcher, 2, [built("tests/accuracy/monitor_pingpong"), "--no-header"])
        return {"ratio": float(re.search(r"(\S+) of the bare loop's", done.stdout).group(1)) - 1}

    accuracy.check("monitor_pingpong", launch, 0.02, launches=RATIO_LAUNCHES)


def test_syncbench_bare(accuracy, compared, say):
    """In at least 9 of 10 launches the barrier's time is within 0.1 us of the bare loop's, without
    delays between barriers and with. Mostly its interval is no wider than the bare loop's over the
    same visits, as far as ten such widths tell, or than 0.1 us to either side."""
    def half_width_us(row, name):
        return (number(row[f"{name}_hi_us"]) - number(row[f"{name}_lo_us"])) / 2

    def several():
        errors_us, wider = {}, {}
        for _ in range(LAUNCHES):
            for row in compared("syncbench_bare", 0.3):
                ours_us, bare_us = number(row["ours_us"]), number(row["bare_us"])
                width_us, bare_width_us = half_width_us(row, "ours"), half_width_us(row, "bare")
                errors_us.setdefault(row["name"], []).append(abs(ours_us - bare_us))
                wider.setdefault(row["name"], []).append(
                    width_us / max(bare_width_us, TARGET_US) - 1)
                say(f"{row['name']}: {ours_us:.3f} +- {width_us:.3f} us, bare {bare_us:.3f} +- "
                    f"{bare_width_us:.3f} us")
        return {"within": max(sorted(errors)[ENOUGH - 1] for errors in errors_us.values()),
                "wider": max(0.0, *map(median, wider.values())), "largest": max(map(max, errors_us.values()))}

    accuracy.check("syncbench_bare", several, fixed={"within": TARGET_US, "wider": WIDER},
                   launches=1, text=lambda us: f"{ENOUGH} of {LAUNCHES} launches within "
                                               f"{us['within']:.3f} us, largest error "
                                               f"{us['largest']:.3f} us")
