"""Results in the programs that people read them with: pandas, R, LibreOffice, and pictures by gnuplot."""

import os
import sys

from case import Case, call, each
from commcost.reading.results import parsed_number
from made_results import SCRIPTS
from mpi_run import run
from readers import cells_in_libreoffice, in_pandas_and_r

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "results"))
from foreign_test import LATENCY  # noqa: E402
from summarize_test import Summary, launches  # noqa: E402


def cell_of(text, decimal):
    """What a cell must hold: a number, or the text."""
    number = parsed_number(text.replace(decimal, "."))
    return text if number is None else number


class Readers(Case):
    def result(self, name, *options):
        """The file that overlap_NAME writes with these options."""
        path = self.folder / f"overlap_{name}.tsv"
        run(self.launcher, 2, [self.built(f"overlap/overlap_{name}"), "--data-driven", *options, f"--output={path}"])
        return path

    def test_result(self):
        path = self.result("iallreduce", "--min-num-elts=64", "--max-num-elts=64", "--samples=5", "--warmup=1")
        header, _ = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        for said in in_pandas_and_r(path, "len(t), t.elements[0], len(t.columns)", "nrow(t), t$elements[1], ncol(t)"):
            assert said.split() == ["1", "64", str(len(header.split("\t")))], said

    def test_summary(self):
        """pandas and R read numbers as numbers."""
        summary = Summary(self.source, self.folder)
        launches(summary, [1.5, 2.5, 3.5])
        path = summary.folder / "summary.tsv"
        assert summary.text(f"--output={path}")[0] == ""
        assert in_pandas_and_r(path, "len(t), t['median'].sum(), t.lo.isna().sum(), t.unit[0]",
                               "nrow(t), sum(t$median), sum(is.na(t$lo)), t$unit[1]") == [
            "2 5000002.5 2 us", "2 5000002 2 us"]

    @each("decimal, language", [(".", 1033), (",", 1031)])
    def test_spreadsheet(self, decimal, language):
        """LibreOffice reads a summary, and a result without metadata, in English and in German: as many
        columns as there are, numbers as numbers, all else as texts."""
        summary = Summary(self.source, self.folder)
        launches(summary, [1.5, 2.5, 3.5])
        paths = [summary.folder / "summary.tsv"]
        summary.text(f"--output={paths[0]}", f"--decimal={decimal}")
        if decimal == ".":  # as programs write it
            paths.append(self.result("ibcast", "--max-num-elts=4", "--max-time=0.02", "--no-metadata"))
        for path in paths:
            rows = [line.split("\t") for line in path.read_text().splitlines()]
            assert len(rows) > 2
            assert cells_in_libreoffice(path, language) == [
                [cell_of(text, decimal) for text in row] for row in rows]

    def test_page_of_another_programs_outputs(self):
        """With our own rows they have none in common."""
        for side, latency in (("old", 1.0), ("new", 1.5)):
            (self.folder / side).mkdir()
            for launch in range(10):
                (self.folder / side / f"{launch}.txt").write_text(LATENCY.format(latency + launch / 1000))
        done = call(["sh", os.path.join(SCRIPTS, "report.sh"), "--output=page.html", "new", "old"],
                    cwd=str(self.folder))
        assert done.returncode == 0, done.stderr
        page = (self.folder / "page.html").read_text()
        assert "<svg" in page
        assert "compare it with itself only" in page
