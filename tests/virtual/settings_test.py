# SPDX-License-Identifier: BSD-3-Clause
"""Which of varied settings is best (best_setting.py, as run_suite.sh --vary has it): named where one
is, and none where nothing depends on the setting."""

import random
import statistics
import unittest

import virtual
from launches import Folder, Pool
from commcost.compare import best_setting
from commcost.result.launches import Series, Values

LAUNCHES, POOL = 10, 30
PROGRAMS = {
    "pingpong": ("MODEL_LATENCY_US", ("--patterns=MPI Send", "--arrangements=single",
                                      "--max-ndata=1", "--max-time=0.02")),
    "syncbench": ("MODEL_BARRIER_US", ("--types=MPI barrier", "--max-time=0.02"))}
USUAL_US = 20
RIGHT, WRONG = 0.95, best_setting.ALPHA  # rates that are promised


class Settings:
    """Launches of several settings of a suite, as vary reads them."""

    def __init__(self, found, states=(1,)):
        """`found`: by setting a Pool and the launches of it. Rounds alternately take these times as long."""
        self.series, self._values = {}, {}
        for setting, (pool, places) in found.items():
            for identity, values in pool.side(places).items():
                one = pool.series[identity]
                series = Series(one.schema._replace(keys=(best_setting.SETTING, *one.schema.keys)),
                                (setting, *one.keys), one.quantity, one.more)
                self.series[series.schema, series.keys, series.quantity] = series
                by_round = {place: value * states[place % len(states)] for place, value in enumerate(values)}
                self._values[series] = Values(by_round, len(by_round), 0)

    def values(self, series, side):
        assert side == 0
        return self._values[series]


class Vary(virtual.Test):
    target = "1 point"

    def setUp(self):
        self.chance, self.suites = random.Random(2), virtual.by_tier(plain=50, run=300, full=500)
        self.folder = Folder(self)

    def pool(self, program, usual_us, first=0, launches=POOL):
        variable, options = PROGRAMS[program]
        variables = {variable: usual_us, "VIRTUAL_FIRST_LAUNCH": first}
        return Pool(self.folder.launches("{}-{}".format(program, first), program, *options,
                                         launches=launches, MODEL_LAUNCH_SPREAD=0.02,
                                         **virtual.CONDITIONS["cloud"], **variables))

    @unittest.skipIf(virtual.TIER == "plain", "test_files names one, too")
    def test_right_setting_is_named(self):
        """The others take 10 % longer, or more."""
        for program in PROGRAMS:
            pools = {name: self.pool(program, USUAL_US * factor, 100 * place) for place, (
                name, factor) in enumerate((("A=1", 1.1), ("A=2", 1), ("A=3", 1.2)))}
            for names, states in ((["A=1", "A=2"], (1,)), (["A=2", "A=3", "A=1"], (1,)), (["A=1", "A=2"], (1, 3))):
                suites = [best_setting.best_settings(Settings({
                    name: (pools[name], self.chance.sample(range(POOL), LAUNCHES))
                    for name in names}, states)) for _ in range(self.suites)]
                right = sum(best[0].sure and best[0].name == "A=2" for best in suites)
                what = "{} {} settings, {} states: the right one is named".format(program, len(names), len(states))
                with self.subTest(what):
                    self.mostly(right, self.suites, RIGHT, what)
                    self.near(statistics.median(best[0].gain_pct for best in suites), 100 / 11, 1)

    def test_nothing_is_named(self):
        for program in PROGRAMS:
            pool = self.pool(program, USUAL_US, launches=2 * POOL)
            for names in (["A=1", "A=2"], ["A=1", "A=2", "A=3"]):
                wrong = 0
                for _ in range(self.suites):
                    places = self.chance.sample(range(2 * POOL), LAUNCHES * len(names))
                    wrong += best_setting.best_settings(Settings({
                        name: (pool, places[i::len(names)])
                        for i, name in enumerate(names)}))[0].sure
                what = "{} {} settings: one is named".format(program, len(names))
                with self.subTest(what):
                    self.rarely(wrong, self.suites, WRONG, what)

    def test_neither_of_two_is_named(self):
        """The best is better than each of the others, not only than one that is worse than all."""
        for program in PROGRAMS:
            alike, worse = self.pool(program, USUAL_US, launches=2 * POOL), self.pool(program, 1.2 * USUAL_US, 200)
            wrong = 0
            for _ in range(self.suites):
                places = self.chance.sample(range(2 * POOL), 2 * LAUNCHES)
                (best,) = best_setting.best_settings(Settings({
                    "A=1": (alike, places[::2]), "A=2": (alike, places[1::2]),
                    "A=3": (worse, self.chance.sample(range(POOL), LAUNCHES))}))
                wrong += best.sure
            what = "{} with a worse setting: one of two that are alike is named".format(program)
            with self.subTest(what):
                self.rarely(wrong, self.suites, WRONG, what)


if __name__ == "__main__":
    virtual.main()
