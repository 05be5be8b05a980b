# SPDX-License-Identifier: BSD-3-Clause
"""Results of overlap_* without the columns form and test_calls: they read as nonblocking and 0, so
that they are compared and put together with those that have them. Reports of the monitor without
the column size_bytes read as NA."""

from case import Case, each
from commcost.compare import row_changes, side_differences
from commcost.result.result_reader import Result, ResultError
from commcost.suite import suite_folder, suite_plan
from made_results import GAIN, OVERLAP, gain_cells, gain_roles, tsv

SIZES = (8, 1024, 1 << 20)
END = "# end: {} rows, exit 0\n"


def rows_of(factor=1.0, **cells):
    return [gain_cells(size, 100 * factor, 50 * factor, **cells) for size in SIZES]


class OlderOverlapCase(Case):
    def written(self, name, rows, columns, metadata=None):
        """Writes a result: written("old/1", rows, columns) of rows as dictionaries; its path."""
        path = self.folder / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        said = {"schema": 2, **(metadata or {}), "columns": gain_roles(columns)}
        path.write_text(tsv("overlap_iallreduce", columns,
                            [[row.get(column, "NA") for column in columns] for row in rows],
                            metadata=said) + END.format(len(rows)))
        return str(path)


# ---- the reader ----------------------------------------------------------------------------------

class TheReader(OlderOverlapCase):
    def test_read_as(self):
        with Result(self.written("old", rows_of(), OVERLAP)) as result:
            assert result.header[:6] == ["collective", "model", "form", "test_calls", "elements",
                                         "size_bytes"]
            assert result.keys == result.header[:6]
            for place, name, _ in result.quantities():
                assert result.header[place] == name
            rows = list(result.rows())
        assert [row[:4] for row in rows] == 3 * [["iallreduce", "data", "nonblocking", "0"]]
        assert {len(row) for row in rows} == {len(OVERLAP) + 2}
        assert result.end == (3, 0)

    @each("columns, header", [
        (["collective", "model", "form", "overlap_pct"],
         ["collective", "model", "form", "test_calls", "overlap_pct"]),
        (["collective", "model", "test_calls", "overlap_pct"],
         ["collective", "model", "form", "test_calls", "overlap_pct"]),
        (["collective", "model", "other"], ["collective", "model", "other"]),
        (["kind", "comm", "operation", "members", "rank", "total_s"],
         ["kind", "comm", "operation", "members", "rank", "size_bytes", "total_s"]),
        (["kind", "comm", "operation", "members", "total_s"],
         ["kind", "comm", "operation", "members", "total_s"]),
        (["overlap_pct", "model", "collective"],
         ["overlap_pct", "model", "form", "test_calls", "collective"])])
    def test_which(self, columns, header):
        """Those of overlap_*, whatever they have of both."""
        path, names = self.folder / "x.tsv", "\t".join(columns)
        roles = " ".join(f"{name}=key" for name in columns)
        path.write_text(f"# benchmark: overlap_x\n# columns: {roles}\n{names}\n{names}\n")
        with Result(str(path)) as result:
            assert result.header == result.keys == header
            row, = result.rows()
        # The cells are called like their columns here, except those that were added.
        assert [{"nonblocking": "form", "0": "test_calls", "NA": "size_bytes"}.get(cell, cell)
                for cell in row] == header

    def test_what_has_them_is_as_it_is(self):
        rows = rows_of(form="persistent", test_calls="auto")
        with Result(self.written("new", rows, GAIN)) as result:
            assert result.header == GAIN
            assert [row[2:4] for row in result.rows()] == 3 * [["persistent", "auto"]]

    def test_cut_off_row(self):
        """Cells are counted as they were written."""
        path = self.written("old", rows_of(), OVERLAP)
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text.replace("\tok\n", "\n", 1))
        with self.assertRaises(ResultError) as error, Result(path) as result:
            list(result.rows())
        assert f"{len(OVERLAP) - 1} cells, the header row has {len(OVERLAP)}" in str(error.exception)

    def test_launches_of_a_suite(self):
        """Are put together as they were written."""
        steps = [suite_plan.Step(run, "overlap", "overlap", "", 1, "") for run in (1, 2)]
        paths = [self.written(f"runs/{run}/overlap", rows_of(), OVERLAP) for run in (1, 2)]
        text = suite_folder.merged(list(zip(steps, paths)))
        path = self.folder / "merged.tsv"
        path.write_text(text)
        assert "form" not in text
        with Result(str(path)) as result:
            assert result.keys[:4] == ["collective", "model", "form", "test_calls"]
            assert len(list(result.rows())) == 6


# ---- what reads results --------------------------------------------------------------------------

class WhatReadsResults(OlderOverlapCase):
    @each("option, values, is_refused", [
        ("plenty", (2, 3), True), ("threshold", (2, 5), False), ("form", ("all", "persistent"), False),
        ("test-calls", (0, "0,4"), False), ("no-blocking", ("no", "yes"), False),
        ("partitions", (4, 8), False)])
    def test_options(self, option, values, is_refused):
        """How much work is plenty changes what is measured; all else rows or nothing that is
        compared."""
        paths = [[self.written(f"{side}/1", rows_of(), GAIN, {option: value})]
                 for side, value in zip(("old", "new"), values)]
        refused, named = side_differences.differences(row_changes.read_all(paths))
        assert bool(refused) == is_refused
        assert not named
