# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/accuracy.md, from the results of the last run of the virtual tests.

usage: accuracy.py BUILD docs/accuracy.md

A table stands between the lines "<!-- NAME -->" and "<!-- end -->"; its first two lines stay.

ideal      the page describes the tests in words of its own; numbers come from the results
coverage   a row per case, with a cell per condition
scorecard  a row per kind of line with errors, and one for all others
"""

import fnmatch
import os
import re
import sys


def results_of(folder, table):
    """Yields the name and the cells of each row that a test wrote for a table."""
    for name in sorted(os.listdir(folder)):
        if name.startswith(table + "."):
            with open(os.path.join(folder, name), encoding="utf-8") as stream:
                yield name[len(table) + 1:], cells_of(stream.read())


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def row_of(cells):
    return "| {} |\n".format(" | ".join(cells))


def ideal_rows(results, rows):
    """Returns the page's rows (tests, text, comparisons, target, largest error) with the results' numbers. The first cell
    has patterns of tests, and a test that no pattern matches has a row with its own text."""
    found = dict(results)
    for row in rows:
        patterns, text, *_ = cells_of(row)
        names = patterns.replace("\\", "").split(", ")
        tests = [name for name in found if any(fnmatch.fnmatchcase(name, one) for one in names)]
        if tests:
            _, counts, targets, errors = zip(*(found.pop(name) for name in tests))
            yield row_of([patterns, text, str(sum(map(int, counts))), "; ".join(dict.fromkeys("; ".join(targets).split("; "))),
                          max(errors, key=float)])
    for name, cells in found.items():
        yield row_of([name] + cells)


def coverage_rows(results):
    """Returns a row per case: the intervals of each condition that hold the truth, and of all conditions the largest
    median error and the largest error."""
    conditions = []
    cases = {}
    for _, (case, condition, inside, median, largest) in results:
        if condition not in conditions:
            conditions.append(condition)
        cases.setdefault(case, {})[condition] = inside.replace(" of ", "/"), median, largest
    for case, found in cases.items():
        worst = max(found, key=lambda condition: abs(float(found[condition][2])))
        yield row_of([case] + [found[condition][0] if condition in found else "" for condition in conditions] +
                     [max((median for _, median, _ in found.values()), key=lambda median: abs(float(median))),
                      "{} ({})".format(found[worst][2], worst)])


def scorecard_rows(results):
    """Returns the rows of lines with a false or a missing one, and the sum of all other lines."""
    others = [0, 0, 0, 0]
    for _, (name, *counts) in results:
        if counts[1] in ("", "0") and counts[3] in ("", "0"):
            others = [total + int(count or 0) for total, count in zip(others, counts)]
        else:
            yield row_of([name] + counts)
    yield row_of(["all others"] + [str(total) for total in others])


def table_rows(table, folder, rows):
    """Returns a table's rows, or the page's own if its tests didn't run."""
    results = list(results_of(folder, table))
    if not results:
        return rows
    if table == "ideal":
        return ideal_rows(results, rows)
    if table == "coverage":
        return coverage_rows(results)
    return scorecard_rows(results)


def main():
    build, page = sys.argv[1:]
    folder = os.path.join(build, "tests/virtual/found")
    with open(page, encoding="utf-8") as stream:
        text = stream.read()

    def written(match):
        rows = match[4].splitlines(keepends=True)
        return match[1] + match[3] + "".join(table_rows(match[2], folder, rows)) + "<!-- end -->"

    text = re.sub(r"(<!-- (\w+) -->\n\n?)((?:\|[^\n]*\n){2})(.*?)<!-- end -->", written, text, flags=re.S)
    with open(page, "w", encoding="utf-8") as stream:
        stream.write(text)


if __name__ == "__main__":
    main()
