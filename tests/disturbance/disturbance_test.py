"""Does the library stop ranks as it is told, and is what it writes down about it true?

disturbance_watch says what a rank sees of stops (watch.c). The machine has stops of its own: a rank
that isn't disturbed shows them, and the share of the time that it loses widens the bounds.
"""

import math
import statistics
import typing

import pytest

from disturbance import CONDITIONS, phase_s, read_log
from mpi_run import number, read, read_tsv, run_raw

PROGRAM = "tests/disturbance/disturbance_watch"


def full_only(*arguments):
    """A case for --full only."""
    return pytest.param(*arguments, marks=pytest.mark.full)


class Seen(typing.NamedTuple):
    """What a rank saw, and its log."""

    __test__ = False
    watched_us: float
    begins_us: list
    lengths_us: list
    log: dict

    def lost_share(self):
        """The share of the time in gaps."""
        return sum(self.lengths_us) / self.watched_us

    def begins_of(self, length_us):
        """When gaps of about this length began."""
        return [begin for begin, length in zip(self.begins_us, self.lengths_us)
                if 0.9 * length_us < length < 1.1 * length_us]

    def usual_us(self, at_least_us):
        """The median of the gaps that aren't shorter."""
        return statistics.median(length for length in self.lengths_us if length >= at_least_us)

    def in_jumps(self, on_s, period_s):
        """The lengths of what began in jumps, and of what began between them."""
        lengths = ([], [])
        for begin_us, length_us in zip(self.begins_us, self.lengths_us):
            phase = phase_s(self.log["jumps"], begin_us * 1e-6, period_s)
            lengths[phase >= on_s].append(length_us)
        return lengths


@pytest.fixture
def watch(launcher, built, disturbed, tmp_path):
    """Watches two ranks; returns what they saw."""
    def seen(mode, seconds, *others, condition="quiet", **variables):
        log, intervals = tmp_path / "log", tmp_path / "intervals"
        environment = disturbed(condition, *others, DISTURB_LOG=log, **variables)
        done = run_raw(launcher, 2, [built(PROGRAM), intervals, seconds, mode], environment)
        assert done.returncode == 0, done.stdout + done.stderr
        found = []
        for rank in range(2):
            lines = read(f"{intervals}.{rank}").splitlines()
            begins, lengths = zip(*([int(cell) / 1e3 for cell in line.split("\t")]
                                    for line in lines))
            found.append(Seen(lengths[0], begins[1:], lengths[1:], read_log(log, rank)))
        return found
    return seen


@pytest.fixture
def watch_quiet(watch):
    """The same of a disturbed rank 0 and of rank 1 beside it, when the machine itself stops that
    for no more than 5 % of the time, if there is such a moment."""
    def seen(*mode, **variables):
        for _ in range(5):
            here, there = watch(*mode, DISTURB_RANKS=0, **variables)
            if there.lost_share() < 0.05:
                break
        return here, there
    return seen


# ---- streams -------------------------------------------------------------------------------------

def variation(begins):
    """The variance of the times from one to the next, over the square of their mean: 1 where they
    are distributed exponentially. Then none is 15 times the mean; the machine's stops may be."""
    gaps = [after - before for before, after in zip(begins, begins[1:])]
    gaps = [gap for gap in gaps if gap < 15 * statistics.mean(gaps)]
    return statistics.variance(gaps) / statistics.mean(gaps) ** 2


@pytest.mark.parametrize("stream, by, error_us, periodic", [
    ("3000:5", "readings", 0.2, 0), full_only("3000:5", "readings", 0.2, 1),
    ("300:50", "timer", 1.5, 1), full_only("300:50", "timer", 1.5, 0),
    full_only("20000:5", "readings", 0.2, 0), full_only("20000:5", "readings", 0.2, 1),
    full_only("2000:50", "timer", 1.5, 0), full_only("2000:50", "timer", 1.5, 1)])
def test_stream(watch_quiet, say, stream, by, error_us, periodic):
    rate, length_us = (float(word) for word in stream.split(":"))
    here, there = watch_quiet("gaps", 1, DISTURB=stream, DISTURB_PERIODIC=periodic)
    log, own = here.log[stream], there.lost_share()
    begins = here.begins_of(length_us)
    usual_us, varies = here.usual_us(length_us / 2), variation(begins)
    say(f"{log.stops} stops, {len(begins)} seen alone, of {usual_us:.2f} us, variance of gaps "
        f"{varies:.2f}; lost: {log.share:.2%}, seen {here.lost_share():.2%}, by itself {own:.2%}; "
        f"mean of a stop: {log.stopped_s / log.stops * 1e6:.2f} us, its cost {log.cost_us:.1f} us")

    # The rate, exactly or by chance. When the watch is over, there are no more readings.
    assert log.by == by
    few = 3 + rate * (log.life_s - here.watched_us * 1e-6)
    assert abs(log.stops - rate * log.life_s) < few + (not periodic) * 4 * math.sqrt(log.stops)
    # What is seen of them: one that is due in another one continues that. The share of those that
    # have no other one around them is that of busy periods of one in a queue (E. Borel, "Sur
    # l'emploi du theoreme de Bernoulli ...", C. R. Acad. Sci. 214 (1942)).
    busy = rate * length_us * 1e-6
    alone = log.stops * (1 if periodic else (1 - busy) * math.exp(-busy))
    assert (0.95 - 2 * own) * alone < len(begins)
    assert len(begins) < 1.05 * alone + 2 * len(there.begins_of(length_us)) + few
    # The length.
    assert abs(usual_us - length_us) < error_us
    assert log.stopped_s / log.stops * 1e6 > length_us - 0.1
    # The share that is lost; that of the machine's own differs between processors.
    assert abs(log.share - log.stops * length_us * 1e-6 / log.life_s) < (0.1 + own) * busy + own
    assert abs(here.lost_share() - log.share - own) < 0.1 * log.share + 0.5 * own + 0.01
    # The gaps: a stop ends before the next one begins.
    if periodic:
        assert varies < 0.5
    else:
        chance = 4 * math.sqrt(8 / len(begins)) + 2 * own
        assert 1 - 2 * busy - chance < varies < 1 + chance


def test_ranks(watch):
    """Only the ranks that are named; without names all."""
    for ranks, stopped in (("1", (False, True)), ("0,1", (True, True)), ("", (True, True)),
                           ("2", (False, False))):
        seen = watch("gaps", 0.2, DISTURB="3000:5", DISTURB_RANKS=ranks)
        for rank in range(2):
            stops, found = seen[rank].log["all"].stops, len(seen[rank].begins_of(5))
            assert (stops > 400 and found > 150) if stopped[rank] else (stops == 0 and found < 100)


def test_child(watch):
    """A rank's child isn't stopped."""
    for seen in watch("child", 0.5, DISTURB="3000:5"):
        assert len(seen.begins_of(5)) < 200


def test_sleep(watch):
    """It lasts as long as asked for; stops that were due in it don't come."""
    for seen in watch("naps", 1, DISTURB="2000:50,3000:5"):
        log = seen.log["all"]
        assert min(seen.lengths_us) >= 5000
        assert statistics.median(seen.lengths_us) < 5500
        assert sum(seen.lengths_us) * 0.95e-6 < log.slept_s < log.life_s
        assert log.stops < 2 * 5000 * log.awake_s + 10


@pytest.mark.parametrize("condition, share", [
    full_only("quiet", 0), ("cloud", 0.03), full_only("bad", 0.1)])
def test_condition(watch_quiet, condition, share):
    here, there = watch_quiet("gaps", 1, condition=condition)
    own = there.lost_share()
    assert abs(here.log["all"].share - share) < 0.2 * share + own
    assert abs(here.lost_share() - share - own) < 0.2 * share + own


def test_conditions_preload(disturbed, built):
    """Nothing is preloaded for nothing."""
    library = built("tests/disturbance/libdisturbance.so")
    assert disturbed("quiet") == {}
    assert disturbed("quiet", "model.so") == {"LD_PRELOAD": "model.so"}
    for condition, variables in CONDITIONS.items():
        if variables:
            assert disturbed(condition, "model.so", DISTURB_SEED=3) == {
                **variables, "DISTURB_SEED": 3, "LD_PRELOAD": f"{library}:model.so"}


# ---- jumps ---------------------------------------------------------------------------------------

ON_S, PERIOD_S, FACTOR = 0.3, 0.7, 1.3
JUMPS = f"{ON_S}:{PERIOD_S}:{FACTOR}"
PERIODS_S = 3 * PERIOD_S


def long_share(lengths_us, limit_us):
    """The share of these that is longer."""
    return sum(length > limit_us for length in lengths_us) / len(lengths_us)


def test_work(watch, say):
    for seen in watch("work", PERIODS_S, DISTURB_JUMPS=JUMPS):
        on, off = seen.in_jumps(ON_S, PERIOD_S)
        factor = statistics.median(on) / statistics.median(off)
        between_us = (1 + FACTOR) / 2 * statistics.median(off)
        # What is much longer is the machine's.
        usual = [length for length in seen.lengths_us if length < 3 * between_us]
        share = sum(length for length in usual if length > between_us) / sum(usual)
        log = seen.log["jumps"]
        say(f"work takes {factor:.3f} times as long in {share:.1%} of the time; stopped "
            f"{log.share:.2%}")
        assert abs(factor - FACTOR) < 0.02
        assert abs(share - ON_S / PERIOD_S) < 0.05
        assert abs(log.share - ON_S / PERIOD_S * (1 - 1 / FACTOR)) < 0.05
        assert long_share(on, between_us) > 0.95
        assert long_share(off, between_us) < 0.1


def test_short_work(watch, say):
    """What is shorter than the 10 us after which a stop could come is slowed down alike, but for a
    reading of the clock, and not by what is owed for work before it."""
    for seen in watch("short_work", PERIOD_S, DISTURB_JUMPS=JUMPS):
        on, off = seen.in_jumps(ON_S, PERIOD_S)
        off_us, on_us = statistics.median(off), statistics.median(on)
        far = sum(abs(length - FACTOR * off_us) > 0.2 for length in on) / len(on)
        say(f"{off_us:.2f} us of work take {on_us:.2f} us; {far:.1%} are more than 0.2 us off")
        assert abs(on_us - FACTOR * off_us) < 0.05
        assert far < 0.1


def test_phase(watch):
    """The same on all ranks; another one in each launch, but with a seed."""
    phases = []
    for variables in ({}, {}, {"DISTURB_SEED": 5}, {"DISTURB_SEED": 5}, {"DISTURB_SEED": 6}):
        first, second = (seen.log["jumps"].first_s
                         for seen in watch("naps", 0.01, DISTURB_JUMPS="2:5:1.3", **variables))
        assert first == second
        assert 0 <= first < 5
        phases.append(first)
    assert phases[2] == phases[3]
    assert len(set(phases)) == 4


@pytest.mark.parametrize("mode, duration_us, variables", [
    ("barrier", 12, {"MODEL_SYNC_COLL": 1, "MODEL_BARRIER_US": 7, "MODEL_WAIT_US": 5}),
    full_only("iallreduce", 7, {"MODEL_DURATION_US": 7, "MODEL_FRACTION": 0.5}),
    full_only("iallreduce", 23, {"MODEL_DURATION_US": 11, "MODEL_FRACTION": 1, "MODEL_POST_US": 2,
                                 "MODEL_WAIT_US": 12})])
def test_model(watch, say, model, tmp_path, mode, duration_us, variables):
    """The model's durations are longer by the factor, and not by stops besides. Its report is of
    what they are without."""
    report = tmp_path / "truth"
    for seen in watch(mode, PERIODS_S, model, DISTURB_JUMPS=JUMPS, MODEL_REPORT=report,
                      **variables):
        on, off = (statistics.median(lengths) for lengths in seen.in_jumps(ON_S, PERIOD_S))
        longer = long_share(seen.in_jumps(ON_S, PERIOD_S)[0], 1.1 * on)
        say(f"{mode} of {duration_us} us: {off:.2f} us, in jumps {on:.2f} us, of which "
            f"{longer:.1%} longer")
        assert duration_us <= off < 1.02 * duration_us + 0.3
        assert abs(on - off - (FACTOR - 1) * duration_us) < 0.01 * duration_us + 0.05
        assert longer < 0.1
    truth, = (truth for truth in read_tsv(read(report)) if truth["operation"] == mode)
    assert 0 < number(truth["extra_us"]) - variables.get("MODEL_WAIT_US", 0) < 0.3, truth
    if mode != "barrier":  # which has no post
        assert 0 < number(truth["host_us"]) - variables.get("MODEL_POST_US", 0) < 0.3, truth


# ---- usage ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, values", [
    ("DISTURB", ("5", "5:", "5:x", "5:1;6:1", "5:1,", "0:5", "100:-1", "20000:50", "nan:1",
                 ",".join(9 * ["1:1"]))),
    ("DISTURB_JUMPS", ("1:2", "1:2:", "2:1:1.3", "1:2:0.9", "1:2:1.3:", "0:1:1.3")),
    ("DISTURB_RANKS", ("x", "0,", "-1", "0.5", "0;1")), ("DISTURB_PERIODIC", ("2", "yes")),
    ("DISTURB_BY", ("clock",)), ("DISTURB_SEED", ("x", "0.5"))])
def test_usage(launcher, built, disturbed, full, name, values):
    # Open MPI's launcher takes seconds to end a job that failed.
    every = full and not launcher.is_openmpi
    for value in values[:None if every else 1]:
        done = run_raw(launcher, 2, [built(PROGRAM), "/dev/null", 0, "gaps"],
                       disturbed("quiet", **{name: value}))
        assert done.returncode != 0, done.args
        assert f"disturbance: {name}={value}: must be " in done.stderr, done.stderr
