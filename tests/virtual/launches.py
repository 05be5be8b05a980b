# SPDX-License-Identifier: BSD-3-Clause
"""Results of launches in virtual time, as files that the package commcost reads."""

import hashlib
import os
import re
import shutil
import sys
import tempfile
import typing

import virtual

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(TOP, "run_scripts"))
# pylint: disable=wrong-import-position
from commcost.compare import row_changes
from commcost.result import summary_table  # noqa: E402
from commcost.result.launches import Values, read_launches  # noqa: E402


class Folder:
    """A folder for the results of a test, which goes with it."""

    def __init__(self, test):
        self.path = tempfile.mkdtemp(prefix="virtual-")
        test.addCleanup(shutil.rmtree, self.path)

    def launches(self, name, program, *options, launches=1, ranks=2, status=0, **variables):
        """Runs launches of a program; returns their folders: PATH/NAME/NUMBER, with PROGRAM.tsv."""
        variables = dict(variables, VIRTUAL_RANKS=ranks, VIRTUAL_LAUNCHES=launches)
        done = virtual.run_raw(program, *options, "--columns=all", "--metadata=full", **variables)
        if done.returncode != status:
            raise AssertionError("{} {}: exit status {}\n{}".format(program, options,
                                                                   done.returncode, done.stderr))
        rows = [line for line in done.stdout.splitlines() if not line.startswith("#")]
        virtual.digests.append(hashlib.sha256(repr((
            program, options, sorted(variables.items()), rows)).encode()).hexdigest())
        texts = re.split("^# launch [0-9]+\n", done.stdout, flags=re.M)[1:] or [done.stdout]
        folders = []
        for number, text in enumerate(texts):
            folders.append(os.path.join(self.path, name, str(number)))
            os.makedirs(folders[-1], exist_ok=True)
            with open(os.path.join(folders[-1], program + ".tsv"), "w", encoding="utf-8") as stream:
                # Else two that found the same within a second would count as one that was copied.
                stream.write(re.sub("(?m)^# date: .*", "# date: launch {}".format(number), text))
        return folders


class Pool:
    """Values of launches."""

    def __init__(self, folders):
        self.folders, self.series, self.found = folders, {}, {}
        for place, folder in enumerate(folders):
            launches = read_launches([folder])
            for identity, series in launches.series.items():
                self.series[identity] = series
                values = self.found.setdefault(identity, len(folders) * [None])
                values[place] = (launches.values(series, 0).values + [None])[0]

    def side(self, places, speeds=None):
        """Returns the values of these launches, on a machine on which all took a factor longer."""
        made = {}
        for identity, values in self.found.items():
            series = self.series[identity]
            pairs = zip((values[place] for place in places), speeds or len(places) * [1])
            made[identity] = [
                value if series.quantity.endswith(("_pct", "(%)")) else
                value / speed if series.more else value * speed
                for value, speed in pairs if value is not None]
        return made


class Sides(typing.NamedTuple):
    """Two sides as a comparison reads them."""

    series: dict
    both: tuple

    def values(self, series, side):
        values = self.both[side][series.schema, series.keys, series.quantity]
        return Values(dict(enumerate(values)), len(values), 0)

    def changed(self, limits):
        return [change for change in row_changes.compare(self, limits)
                if change.verdict in (row_changes.SLOWER, row_changes.FASTER)]


def summary(folders):
    """Median and interval by row and quantity."""
    return {(line.series.keys, line.series.quantity): (line.median, *line.interval)
            for line in summary_table.lines_of(read_launches(folders))}
