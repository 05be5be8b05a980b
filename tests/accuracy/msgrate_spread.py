"""Do launches of msgrate agree?

10 launches (20 with --full) on 2 ranks with one peer: the interquartile range of each pattern's
rate must be at most 10 % of its median. A shared machine's own caches and memory may vary by more:
then the ratio to a bare loop of the same calls, flushed alike and timed in the same process in
turn, must vary by at most 5 %.
"""

import statistics

import pytest

from mpi_run import number, run

LAUNCHES, LAUNCHES_FULL, OWN_TARGET, RATIO_TARGET = 10, 20, 0.10, 0.05


def spread(values):
    """The interquartile range over the median."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / median


@pytest.fixture
def rates(launcher, built):
    """One launch: by pattern, the rate."""
    def launch():
        _, rows = run(launcher, 2, [built("msgrate/msgrate"), "-p", "1", "--max-time=0.5"])
        return {row["pattern"]: number(row["rate_per_s"]) for row in rows}
    return launch


@pytest.fixture
def bare_times(rows_of):
    """One launch: by pattern, the time of the bare loop, and msgrate's over that."""
    def launch():
        rows = rows_of("tests/this_machine/msgrate_bare", "-c", "16M", "--samples=100")
        return {row["name"]: (number(row["bare_us"]), number(row["ratio"])) for row in rows}
    return launch


def test_spread(accuracy, rates, bare_times, full, say):
    times = LAUNCHES_FULL if full else LAUNCHES

    def spreads():
        """Of each pattern in units of what is allowed: msgrate's own or, if that is too large, the
        ratio's."""
        launches = [rates() for _ in range(times)]
        own = {pattern: spread([found[pattern] for found in launches]) for pattern in launches[0]}
        assert len(own) == 4
        for pattern, value in own.items():
            say(f"{pattern}: interquartile range {value:.1%} of the median")
        large = [pattern for pattern, value in own.items() if value > OWN_TARGET]
        bare = [bare_times() for _ in range(times)] if large else []
        shares = {pattern: value / OWN_TARGET for pattern, value in own.items()}
        for pattern in large:
            machine, ratio = map(spread, zip(*(found[pattern] for found in bare)))
            say(f"{pattern}: a bare loop's {machine:.1%}, the ratio's {ratio:.1%}")
            shares[pattern] = ratio / RATIO_TARGET
        return shares

    accuracy.check("spread over launches", spreads, fixed=1, launches=1,
                   text="{:.2f} of what is allowed")
