# SPDX-License-Identifier: BSD-3-Clause
"""The rows of results as reports show them: one value a launch, however often it is there."""

import shutil

from case import Case, each
from commcost.command import UsageError
from commcost.compare import row_changes
from commcost.report import picture_panels, pictures, report_page
from commcost.result import row_labels, summary_table, tables
from commcost.result.launches import read_launches
from commcost.result.result_reader import ResultError
from commcost.scorecard import caveats, fact_lines, scorecard
from made_results import SYNC, tsv


def launches_of(folder):
    read = tables.Tables([str(folder)])
    row, = tables.rows_by_key(read, "syncbench")
    return [(cells["sync_us"], cells["status"]) for cells in row.launches], read.left


class Tables(Case):
    def written(self, name, *times_us, statuses=()):
        """Writes results: written("1/syncbench", 2.5, 2.7) has a row of the same keys for each time."""
        path = self.folder / f"{name}.tsv"
        path.parent.mkdir(exist_ok=True)
        statuses = [*statuses, *(len(times_us) - len(statuses)) * ["ok"]]
        path.write_text(tsv("syncbench", SYNC, [
            ["ring", 2, 4, 0.1, 1, time_us, "NA", "NA", status]
            for time_us, status in zip(times_us, statuses)]))
        return path

    def test_copy(self):
        """The same bytes twice are one launch; the same row by chance is not."""
        first = self.written("1/syncbench", 1, 5)
        (self.folder / "2").mkdir()
        shutil.copy(first, self.folder / "2" / "syncbench.tsv")
        self.written("3/syncbench", 1)
        found, (remark,) = launches_of(self.folder)
        assert found == [("3", "ok"), ("1", "ok")]
        assert remark.startswith(f"{self.folder}/2/syncbench.tsv: the same launch as {self.folder}/1/")

    def test_row_again(self):
        """Of a row that a launch has several times the median counts, not those of wrong data."""
        self.written("1/syncbench", 1, 9, 2, statuses=["ok", "budget"])
        self.written("2/syncbench", 4, 7, statuses=["ok", "FAIL"])
        assert launches_of(self.folder)[0] == [("2", "budget"), ("4", "FAIL")]

    def test_medians_as_they_are_written(self):
        assert [tables.median_text(texts.split()) for texts in (
            "3.50 1.5 2", "1.020 1.0", "4 15", "2.1e-7 3e-7")] == ["2", "1.010", "9.5", "2.55e-07"]

    def test_summary_beside(self):
        """Of results of overlap, too, whose columns a summary has."""
        self.written("syncbench", 1)
        heading = ["benchmark", "collective", "model", "quantity", "median", "launches", "status"]
        (self.folder / "summary.tsv").write_text(
            "\t".join(heading) + "\noverlap_ibcast\tibcast\tdata\toverlap_pct\t3\t6\tok\n")
        read = tables.Tables([str(self.folder)])
        assert (read.kinds(), read.left) == (["syncbench"], [])

    def test_memories(self):
        """Rows of buffers elsewhere are rows of their own, in pictures, too; host memory's have no such column."""
        columns = ["operation", "size_bytes", "time_us", "own_us", "skew_us", "status"]
        for name, keys in (("1", {}), ("2", {"memory": "device"}), ("3", {"buffers": "new", "memory": "device"})):
            path = self.folder / f"{name}.tsv"
            path.write_text(tsv("collective", [*keys, *columns], [[*keys.values(), "bcast", 8, 1, 1, 0, "ok"]]))
        rows = tables.rows_by_key(tables.Tables([str(self.folder)]), "collective")
        found = sorted((row.keys["memory"], row.keys["buffers"]) for row in rows)
        assert found == [("NA", "NA"), ("device", "NA"), ("device", "new")]
        picture, = pictures.pictures_of("collective", [row.keys for row in rows])
        labels = row_labels.Labels(picture.panels[0].series, [row.keys for row in rows])
        assert sorted(labels.of(row.keys) for row in rows) == [
            "bcast", "bcast, device memory", "bcast, device memory, new buffers"]

    def test_too_many(self):
        """Rows are held in memory."""
        self.replace(tables, "ROWS_MAX", 5)
        self.written("1/syncbench", 1, 2, 3)
        self.written("2/syncbench", 1, 2)
        tables.Tables([str(self.folder)])
        self.written("3/syncbench", 1)
        with self.assertRaisesRegex(UsageError, "3/syncbench.tsv: more than 5 rows: .* use summarize"):
            tables.Tables([str(self.folder)])


COLUMNS = "run=key tag=key sync=key neighbours=key ranks=key sync_us=less status=info"
BARRIER = "operation=key type=key op=key in_place=key root=key size_bytes=key time_us=less status=info"
LIMITS = row_changes.Limits(0.01, 5, 0.95)


def said(folder):
    """The scorecard's facts."""
    card = scorecard.card_of(tables.Tables([str(folder)]))
    return [(line.label, line.value, line.spread) for part in card.parts for line in part.lines]


def drawn(folder, kind):
    """The labels and values of the first panel of a kind."""
    read = tables.Tables([str(folder)])
    rows = read.cells(tables.NEW, kind)
    panel = pictures.pictures_of(kind, rows, read.further_keys(kind))[0].panels[0]
    text = picture_panels.PanelText(panel, {tables.NEW: rows}, {})
    return {text.series[series]: [point.value for point in points] for (_, _, series), points in text.points.items()}


class Apart(Case):
    """Rows that differ in anything but their launch are never one, whoever reads them."""

    def written(self, name, benchmark, columns, *rows, **metadata):
        path = self.folder / f"{name}.tsv"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(tsv(benchmark, [word.split("=")[0] for word in columns.split()], rows, metadata={
            "schema": 2, "date": name, "columns": columns, **metadata}) + f"# end: {len(rows)} rows, exit 0\n")

    def barrier(self, name, time_us, **metadata):
        self.written(name, "collective", BARRIER, ["barrier", "NA", "NA", "no", "NA", "NA", time_us, "ok"], **metadata)

    def test_a_key_that_only_the_file_knows(self):
        """Its values are rows of their own in scorecard, page, pictures, summary and comparison."""
        for side in ("new", "base"):
            self.written(f"{side}/syncbench", "syncbench", COLUMNS, *(
                [run, tag, "MPI barrier", "NA", 4, time_us, "ok"] for run in range(6)
                for tag, time_us in (("a", "5.0"), ("b", "50.0"))))
        folder = self.folder / "new"
        assert said(folder) == [("Barrier, 4 ranks, tag a", "5.00 µs", "5.00–5.00"),
                                ("Barrier, 4 ranks, tag b", "50.0 µs", "50.0–50.0")]
        read = tables.Tables([str(folder)])
        assert [(row.keys["tag"], row.median("sync_us")) for row in read.rows("syncbench")] == [("a", 5), ("b", 50)]
        page = report_page.Report([str(folder)], read).page({}).as_markdown()
        assert "| MPI barrier, tag a | 5.00 |" in page and "27.5" not in page, page
        assert drawn(folder, "syncbench") == {"MPI barrier, tag a": ["5.0"], "MPI barrier, tag b": ["50.0"]}
        assert "syncbench\ta\tMPI barrier\tNA\t4\tsync_us\tus\t5.00000\t" in summary_table.summarize([str(folder)])[0]
        changes = row_changes.compare_sides(([str(self.folder / "base")], [str(folder)]), LIMITS).changes
        assert [(change.series.keys[0], change.new) for change in changes] == [("a", 5), ("b", 50)]

    def test_answers_by_such_a_key(self):
        """An answer is about rows that are alike in it."""
        roles = ("run=key tag=key arrangement=key pattern=key sync=key count=key blksize=key stride=key ndata=key "
                 "latency_us=less bwidth_mbs=more status=info")
        self.written("pingpong", "pingpong", roles, *(
            [run, tag, "single", pattern, sync, 1, 1, 1, 1, factor * time_us, 8 / time_us, "ok"] for run in range(6)
            for pattern, sync, time_us in (("MPI Send", "none", 1.0), ("put", "all", 0.5))
            for tag, factor in (("a", 1.0), ("b", 10.0))))
        puts = [what for what, answer, _ in said(self.folder) if answer == "yes"]
        assert puts == ["Put + barrier vs. MPI_Send, tag a", "Put + barrier vs. MPI_Send, tag b"]

    def test_many_values(self):
        """The first ones are shown, and that there are more."""
        self.written("syncbench", "syncbench", COLUMNS, *(
            [0, f"t{tag}", "MPI barrier", "NA", 4, 5.0, "ok"] for tag in range(20)))
        assert len(said(self.folder)) == caveats.VARIANTS
        (caveat,) = [text for text in scorecard.card_of(tables.Tables([str(self.folder)])).caveats if "differ in" in text]
        assert caveat == "Results differ in tag: 8 of 20 combinations shown, report.sh shows all"

    @each("key, values, named", [
        ("ranks", (2, 64), ("Barrier, 2 ranks", "Barrier, 64 ranks")),
        ("nodes", (1, 2), ("Barrier, 4 ranks, nodes 1", "Barrier, 4 ranks, nodes 2")),
        ("ranks_per_node", (1, 4), (
            "Barrier, 4 ranks, ranks_per_node 1", "Barrier, 4 ranks, ranks_per_node 4")),
        ("mpi_library", ("MPICH Version: 4.2", "Open MPI v5.0"), (
            "Barrier, 4 ranks, mpi_library MPICH Version: 4.2",
            "Barrier, 4 ranks, mpi_library Open MPI v5.0")),
        ("memory", ("host", "device"), (
            "Barrier, 4 ranks, host memory", "Barrier, 4 ranks, device memory")),
        ("spread", (1, 2), ("Barrier, 4 ranks, spread 1", "Barrier, 4 ranks, spread 2"))])
    def test_mixtures(self, key, values, named):
        """Launches of one folder that were measured otherwise."""
        for run in range(6):
            for value, time_us in zip(values, (1.0, 212.0)):
                self.barrier(f"runs/{run}/collective_{value}".replace(" ", ""), time_us, **{"ranks": 4, key: value})
        folder = self.folder / "runs"
        assert set(said(folder)) == {(named[0], "1.00 µs", "1.00–1.00"), (named[1], "212 µs", "212–212")}
        page = report_page.Report([str(folder)], tables.Tables([str(folder)])).page({}).as_markdown()
        assert "106.5" not in page and "| 212 |" in page, page
        launches = read_launches([str(self.folder)])
        found = {(dict(zip(series.schema.keys, series.keys))[key], *launches.values(series, 0).values)
                 for series in launches.series.values()}
        assert found == {(str(value), *6 * [time_us]) for value, time_us in zip(values, (1.0, 212.0))}
        assert launches.mixtures == tables.Tables([str(folder)]).left == []

    def test_reports_of_the_monitor(self):
        """Heads differ in each launch: rows are of all launches."""
        for run in (1, 2):
            self.written(f"runs/{run}/report", "mpirtmon", "kind=key operation=key calls=info in_calls_s=less", [
                "pttopt", "MPI_Send", 10, run], **dict.fromkeys(
                    ("snapshot", "snapshot_s", "common_clock_error_ns", "computing_from_ns"), 100 + run))
        read = tables.Tables([str(self.folder / "runs")])
        assert [len(row.launches) for row in read.rows("mpirtmon")] == [2], read.apart
        (series, *_), = [list(read_launches([str(self.folder)]).series.values())]
        assert len(list(series.pairs())) == 2, series.schema

    @each("label, named", [("Barrier, 2 ranks", "Barrier, 2 ranks"), ("Barrier, 12 ranks", "Barrier, 12 ranks, 2 ranks")])
    def test_name_of_a_line(self, label, named):
        """A key is added that the line doesn't name."""
        assert fact_lines.named(fact_lines.Line(label, "1 µs"), {"ranks": "2"}).label == named

    def test_title_of_mixtures(self):
        for run in range(2):
            for ranks in (2, 64):
                self.barrier(f"{run}/collective_{ranks}", 1.0, ranks=ranks)
        title = scorecard.card_of(tables.Tables([str(self.folder)])).title
        assert title == "commcost: 2 or 64 ranks on 1 node, MPICH 4.0.2, 2 launches"

    def test_mixtures_with_a_warning(self):
        """Results that may be of the same program elsewhere are put together, with a warning."""
        for run, kernel in enumerate(("5.10", "6.1")):
            self.barrier(f"runs/{run}/collective", 1.0, kernel=kernel)
        folder = self.folder / "runs"
        for remarks in (tables.Tables([str(folder)]).left, read_launches([str(self.folder)]).mixtures):
            (remark,) = remarks
            self.assertRegex(remark, "^collective was measured with kernel 5.10 .*0/collective.tsv. and 6.1 .*1/coll")
        assert [what for what, _, _ in said(folder)] == ["Barrier, 2 ranks"]

    def test_programs_of_a_suite_with_other_ranks(self):
        """Of which no row is another's: no mixture, and sides that are alike are compared."""
        roles = "operation=key size_bytes=key time_us=less status=info"
        for side in ("base", "new"):
            for name, ranks, size in (("all", 4, 8), ("two", 2, 16)):
                self.written(f"{side}/{name}", "collective", roles, ["bcast", size, 1.0, "ok"], ranks=ranks)
        sides = [str(self.folder / "base")], [str(self.folder / "new")]
        comparison = row_changes.compare_sides(sides, LIMITS)
        assert [change.series.schema.keys for change in comparison.changes] == 2 * [("operation", "size_bytes")]
        self.written("new/two", "collective", roles, ["bcast", 16, 1.0, "ok"], ranks=8)
        with self.assertRaisesRegex(ResultError, "base/two.tsv ran on 2 ranks, .*new/two.tsv on 8"):
            row_changes.compare_sides(sides, LIMITS)

    def test_sides_of_the_same_mixture(self):
        """Are compared layout by layout; a layout that only one side has is refused."""
        for side in ("base", "new"):
            for ranks, time_us in ((2, 1.0), (64, 212.0)):
                self.barrier(f"{side}/{ranks}/collective", time_us, ranks=ranks)
        sides = [str(self.folder / "base")], [str(self.folder / "new")]
        comparison = row_changes.compare_sides(sides, LIMITS)
        assert [(change.series.keys[-1], change.base, change.new) for change in comparison.changes] == [
            ("2", 1, 1), ("64", 212, 212)]
        assert [text for _, text in comparison.remarks] == []
        self.barrier("new/3/collective", 1.0, ranks=3)
        with self.assertRaisesRegex(ResultError, "ran on (2|64) ranks, .*new/3/collective.tsv on 3"):
            row_changes.compare_sides(sides, LIMITS)

    def test_rows_that_change_places(self):
        """Sides with the same layouts, but each row in another one, have no row in common."""
        for side, layouts in (("base", (2, 4)), ("new", (4, 2))):
            for ranks, root in zip(layouts, "01"):
                self.written(f"{side}/{root}", "collective", "operation=key root=key time_us=less status=info",
                             ["bcast", root, 1.0, "ok"], ranks=ranks)
        with self.assertRaisesRegex(ResultError, "no row in common"):
            row_changes.compare_sides(([str(self.folder / "base")], [str(self.folder / "new")]), LIMITS)
