"""The rows of results as reports show them: one value a launch, however often it is there."""

import shutil

import pytest

from commcost import tables
from commcost.command import UsageError
from made_results import SYNC, tsv


@pytest.fixture
def written(tmp_path):
    """Writes results: written("1/syncbench", 2.5, 2.7) has a row of the same keys for each time."""
    def write(name, *times_us, statuses=()):
        path = tmp_path / f"{name}.tsv"
        path.parent.mkdir(exist_ok=True)
        statuses = [*statuses, *(len(times_us) - len(statuses)) * ["ok"]]
        path.write_text(tsv("syncbench", SYNC, [
            ["ring", 2, 4, 0.1, 1, time_us, "NA", "NA", status]
            for time_us, status in zip(times_us, statuses)]))
        return path
    return write


def launches_of(folder):
    read = tables.Tables([str(folder)])
    row, = tables.rows_by_key(read, "syncbench")
    return [(cells["sync_us"], cells["status"]) for cells in row.launches], read.left


def test_launches(written, tmp_path):
    written("1/syncbench", 1)
    written("2/syncbench", 2)
    assert launches_of(tmp_path) == ([("1", "ok"), ("2", "ok")], [])


def test_copy(written, tmp_path):
    """The same bytes twice are one launch; the same row by chance is not."""
    first = written("1/syncbench", 1, 5)
    (tmp_path / "2").mkdir()
    shutil.copy(first, tmp_path / "2" / "syncbench.tsv")
    written("3/syncbench", 1)
    found, (remark,) = launches_of(tmp_path)
    assert found == [("3", "ok"), ("1", "ok")]
    assert remark.startswith(f"{tmp_path}/2/syncbench.tsv: the same launch as {tmp_path}/1/")


def test_row_again(written, tmp_path):
    """Of a row that a launch has several times the median counts, not those of wrong data."""
    written("1/syncbench", 1, 9, 2, statuses=["ok", "budget"])
    written("2/syncbench", 4, 7, statuses=["ok", "FAIL"])
    assert launches_of(tmp_path)[0] == [("2", "budget"), ("4", "FAIL")]


def test_too_many(written, tmp_path, monkeypatch):
    """Rows are held in memory."""
    monkeypatch.setattr(tables, "ROWS_MAX", 5)
    written("1/syncbench", 1, 2, 3)
    written("2/syncbench", 1, 2)
    tables.Tables([str(tmp_path)])
    written("3/syncbench", 1)
    with pytest.raises(UsageError, match="3/syncbench.tsv: more than 5 rows in all: .* use summarize"):
        tables.Tables([str(tmp_path)])
