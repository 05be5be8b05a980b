"""The rows of results as reports show them: one value a launch, however often it is there."""

import shutil

from case import Case
from commcost.drawing import pictures
from commcost.reading import tables
from commcost.command import UsageError
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

    def test_launches(self):
        self.written("1/syncbench", 1)
        self.written("2/syncbench", 2)
        assert launches_of(self.folder) == ([("1", "ok"), ("2", "ok")], [])

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
        labels = pictures.Labels(picture.panels[0].series, [row.keys for row in rows])
        assert sorted(labels.of(row.keys) for row in rows) == [
            "bcast", "bcast, device memory", "bcast, device memory, new buffers"]

    def test_too_many(self):
        """Rows are held in memory."""
        self.replace(tables, "ROWS_MAX", 5)
        self.written("1/syncbench", 1, 2, 3)
        self.written("2/syncbench", 1, 2)
        tables.Tables([str(self.folder)])
        self.written("3/syncbench", 1)
        with self.assertRaisesRegex(UsageError, "3/syncbench.tsv: more than 5 rows in all: .* use summarize"):
            tables.Tables([str(self.folder)])
