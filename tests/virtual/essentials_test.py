# SPDX-License-Identifier: BSD-3-Clause
"""The essentials, which quickstart.sh measures: what a launch of each finds on a machine like a small real one."""

import math
import os
import re

import virtual
import launches  # noqa: F401, where commcost is found
from commcost.suite.suite_plan import read_list

# Messages take 0.3 us and 0.1 ns a byte.
MODEL = {"MODEL_LATENCY_US": 0.3, "MODEL_DURATION_US": 0.8, "MODEL_BLOCKING_US": 0.6, "MODEL_BARRIER_US": 0.6,
         "MODEL_PER_BYTE_NS": 0.1}
SAMPLES_MIN = 6
BUDGET_SHARE = 1 / 3


def has_value(row, name):
    return name in row and not (isinstance(row[name], float) and math.isnan(row[name]))


def without_interval(row):
    """The quantities of a row that have a value and no interval."""
    lacking = [name for name in row if re.search("_(lo|hi)(_|$)", name) and not has_value(row, name)]
    # mpi_overhead's overhead has its unit in the interval's names alone.
    return [name for name in lacking if has_value(row, re.sub("_(lo|hi)(?=_|$)", "", name)) or
            has_value(row, re.sub("_(lo|hi)_us$", "", name))]


def rows_of(entry, condition):
    """The result of a launch. No time passes while caches are flushed, so a few are enough."""
    options = entry.options.replace("{peers}", "1").replace("llc", "64K").split()
    (launch,) = virtual.run(os.path.basename(entry.program), *options, **MODEL, **virtual.CONDITIONS[condition])
    return launch.rows


class Essentials(virtual.Test):
    """Each row has samples and intervals, and most are as precise as they should be."""

    def test_rows(self):
        entries = read_list("essentials")[:virtual.by_tier(plain=4, run=99)]
        for condition in virtual.by_tier(plain=("quiet",), run=("quiet", "cloud")):
            statuses = []
            for entry in entries:
                for row in rows_of(entry, condition):
                    statuses.append(row["status"])
                    with self.subTest(condition=condition, program=entry.name, row=row):
                        self.assertGreaterEqual(row["samples"], SAMPLES_MIN)
                        self.assertEqual(without_interval(row), [])
            self.assertLessEqual(statuses.count("budget"), BUDGET_SHARE * len(statuses))


if __name__ == "__main__":
    virtual.main()
