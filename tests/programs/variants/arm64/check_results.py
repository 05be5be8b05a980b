#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks results of short runs under an emulator: complete, no row missing, the data right, and all numbers numbers
that times and percentages can be. Times mean nothing there.

usage: check_results.py FOLDER
"""

import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../run_scripts"))
from commcost.result.result_reader import Result  # pylint: disable=wrong-import-position
from commcost.words import parsed_number  # pylint: disable=wrong-import-position

# Of each file: its rows, and what a column's numbers are between.
EXPECTED = {
    "syncbench.tsv": (11, {"ranks": (2, 2), "ref_us": (0, 1e6), "loop_us": (0, 1e6)}),
    "overlap_iallreduce.tsv": (13, {"ref_us": (0, 1e6), "total_us": (0, 1e6), "overlap_pct": (0, 100)}),
}


def complaints(path, rows, bounds):
    with Result(path) as result:
        found = list(result.rows())
        if result.end is None or result.end.rows != rows or result.end.status != 0 or len(found) != rows:
            yield f"{len(found)} rows, end line {result.end}, expected {rows} rows and exit status 0"
        for row in found:
            cells = dict(zip(result.header, row))
            if "FAIL" in cells.values():
                yield f"wrong data: {cells}"
            for name, (least, most) in bounds.items():
                number = parsed_number(cells[name])
                if number is None or not math.isfinite(number) or not least <= number <= most:
                    yield f"{name} is {cells[name]}: {cells}"


def main():
    bad = [f"{name}: {text}" for name, (rows, bounds) in EXPECTED.items()
           for text in complaints(os.path.join(sys.argv[1], name), rows, bounds)]
    print("\n".join(bad) if bad else f"{len(EXPECTED)} results are as they must be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
