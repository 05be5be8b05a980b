# SPDX-License-Identifier: BSD-3-Clause
"""Which of varied settings is best: of results that were made by hand."""

import math
import re

from case import Case, Near, each
from commcost.compare import best_setting
from commcost.report import report_page, report_sections
from commcost.result import rank_test, tables
from commcost.result.launches import read_launches
from commcost.scorecard import card_text, change_lines, scorecard
from commcost.system import short_path
from made_results import tsv

COLUMNS = ["run", "setting", "sync", "neighbours", "ranks", "sync_us", "sync_lo_us", "sync_hi_us",
           "status"]
ROLES = {name: "key" for name in COLUMNS[:5]}
ROLES["sync_us"] = "less"


class Settings(Case):
    def results(self, launches=10, spread=0.02, **settings):
        """A folder of syncbench's results: by setting and row a value, times what a launch makes of
        it."""
        rows = [[run, name.replace("_", "="), sync, "NA", 2,
                 value * (1 + spread * ((7 * run + 3 * place) % 10) / 10), 0, 1, "ok"]
                for run in range(1, launches + 1) for place, (name, values) in enumerate(settings.items())
                for sync, value in values.items()]
        return self.written(rows)

    def written(self, rows):
        columns = " ".join(f"{name}={ROLES.get(name, 'info')}" for name in COLUMNS)
        (self.folder / "syncbench.tsv").write_text(
            tsv("syncbench", COLUMNS, rows, metadata={"columns": columns}))
        return str(self.folder)

    def test_best(self):
        """The gain is over the second one."""
        found = {row.keys[0]: row for row in best_setting.best_settings(read_launches([self.results(
            A_0={"ring": 10, "MPI barrier": 5}, A_1={"ring": 12, "MPI barrier": 5},
            A_2={"ring": 11, "MPI barrier": 5})]))}
        assert found["ring"].sure and not found["MPI barrier"].sure
        assert list(found["ring"].medians) == ["A=0", "A=2", "A=1"]
        assert found["ring"].gain_pct == Near(100 / 11)

    def test_state_that_changes_within_rounds(self):
        """The setting that is 2 % slower in nearly all rounds isn't best, though its median is lower."""
        slow = [run > 12 for run in range(24)]
        times = {"A=0": [3.06 if of_run else 1.02 for of_run in slow],
                 "A=1": [3.0 if of_run else 1.0 for of_run in slow]}
        times["A=1"][11:13] = 3.0, 3.0
        best, = best_setting.best_settings(read_launches([self.written(
            [[run, name, "ring", "NA", 2, of_setting[run], 0, 1, "ok"]
             for run in range(24) for name, of_setting in times.items()])]))
        assert (best.name, best.sure) == ("A=0", False), best

    def test_wrong_data(self):
        """A setting in which it came is no candidate."""
        path = self.results(A_0={"ring": 10}, A_1={"ring": 11}, A_2={"ring": 12})
        text = (self.folder / "syncbench.tsv").read_text()
        (self.folder / "syncbench.tsv").write_text(re.sub("(?m)^(3\tA=0.*)ok$", r"\1FAIL", text))
        best, = best_setting.best_settings(read_launches([path]))
        assert (best.name, best.sure) == ("A=1", True)

    def test_page(self):
        path = self.results(A_0={"ring": 10, "MPI barrier": 5}, A_1={"ring": 11, "MPI barrier": 5})
        made = report_page.Report([path], tables.Tables([path])).page({})
        text = made.as_markdown()
        card = card_text.text_of(scorecard.card_of(tables.Tables([path]), best_setting.best_of_result(path, tables.Tables([path]))))
        assert ("Best setting\n"
                "  A=0        1 of 2 results  at most 9.09 %: syncbench sync_us (sync ring, ranks 2)\n"
                "  Not clear  1 of 2 results  no clear difference in 10 launches of each\n") in card
        assert "2 settings × 10 launches, 2026-01-02\n" in card
        assert "A=0" in made.as_markdown().split("##")[1]
        assert "1 of 2 rows have a best setting.\n" in text
        # Medians are 1.009 times the values; p is of 2 of 184,756 ways, times two tests and two rows.
        assert "| ahead of the second (% or points) | p | A=0 | A=1 |\n" in text
        assert "\n| syncbench | sync ring, ranks 2 | sync_us | A=0 | 9.1 | 4.33e-05 | 10.0900 | 11.0990 |\n" in text
        assert "<th>A=0</th><th>ring</th>" in made.as_html()
        assert "Barrier" not in card

    @each("states, name", [((1, 3), "signed-rank"), ((1,), "rank-sum")])
    def test_page_names_its_tests(self, states, name):
        """The p of a row is that of the test on the page which finds more: of pairs where rounds differ by three times,
        of all against all where launches of a run are independent."""
        times = {"A=0": [states[run % len(states)] * (1 + run / 1000) for run in range(10)]}
        times["A=1"] = [1.01 * value for value in times["A=0"]] if len(states) > 1 else [
            1.01 + run / 1000 for run in (7, 0, 3, 5, 9, 1, 6, 2, 8, 4)]
        path = self.written([[run, setting, "ring", "NA", 2, of_setting[run], 0, 1, "ok"]
                             for run in range(10) for setting, of_setting in times.items()])
        ps = {"signed-rank": rank_test.signed_rank_p([math.log(y / x) for x, y in zip(*times.values())]),
              "rank-sum": rank_test.rank_sum_p(*times.values())}
        assert ps[name] == min(ps.values())
        section, = (part for part in report_page.Report([path], tables.Tables([path])).page({}).sections
                    if getattr(part, "heading", "") == "Best setting, row by row")
        text, grid = section.parts[0].text, section.parts[-1]
        assert f"the {name} test" in text, text
        cells = dict(zip((column.heading for column in grid.columns), grid.rows[0].cells))
        assert (cells["best"], cells["p"]) == ("A=0", f"{2 * ps[name]:.3g}"), cells

    def test_too_few_launches_are_said(self):
        path = self.results(launches=3, A_0={"ring": 10}, A_1={"ring": 20})
        line, = change_lines.best_settings(best_setting.best_settings(read_launches([path])))
        assert (line.label, line.note) == ("Not clear", "fewer than 6 launches of each")

    @each("others, named", [("done", " of syncbench"), ("failed", "")])
    def test_failed(self, others, named):
        """A setting without any result of a program is named, and not one whose launches failed once, or at first."""
        path = self.results(A_0={"ring": 10}, A_1={"ring": 11})
        (self.folder / "suite").mkdir()
        (self.folder / "suite/settings").write_text("".join(
            f"{name}@{place}\tA={place - 1}\n" for name in ("syncbench", "halo") for place in (1, 2, 3)))
        (self.folder / "suite/launches.tsv").write_text("\n".join(["run\tname\tstart\tseconds\texit\tresult"] + [
            f"{run}\t{name}\tx\t3\t1\t{result}" for run, name, result in (
                (1, "syncbench@1", "failed"), (1, "syncbench@1", "done"), (1, "syncbench@2", "failed"),
                (1, "syncbench@3", "failed"), (1, "halo@3", others), (2, "syncbench@2", "done"),
                (2, "syncbench@3", "failed"))]) + "\n")
        found = tables.Tables([path])
        assert scorecard.card_of(found, best_setting.best_of_result(path, found)).caveats[:-1] == [
            f"Setting A=2: all launches{named} failed: see {short_path(path)}/runs/1/syncbench@3.log."]
        text = report_page.Report([path], found).page({}).as_markdown()
        assert "syncbench@3 (A=2): 2 launches failed and are missing here" in text, text
        assert "syncbench@2 (A=1): 1 launch failed and is missing here" in text, text

    def test_varied_variables(self):
        """Aren't reported as set for all: the metadata are those of the first setting."""
        path = self.results(A_0={"ring": 10}, A_1={"ring": 11})
        text = (self.folder / "syncbench.tsv").read_text()
        (self.folder / "syncbench.tsv").write_text(text.replace("# columns", (
            "# mpi_variable: A=0\n# mpi_variable: AA=0\n# mpi_variable: A=\n# columns")))
        assert report_sections.values_of(tables.Tables([path]), tables.NEW, "mpi_variable") == "AA=0; A="

    def test_points(self):
        """A quantity in percent gains points: 60 against 2 % is no gain of 2900 %."""
        path = self.results(A_0={"ring": 2}, A_1={"ring": 60})
        text = (self.folder / "syncbench.tsv").read_text().replace("sync_us", "sync_pct")
        (self.folder / "syncbench.tsv").write_text(text.replace("sync_pct=less", "sync_pct=more"))
        best = best_setting.best_settings(read_launches([path]))
        line, = change_lines.best_settings(best)
        # 58 times the median of what launches make of it, 1.009.
        assert line[:2] == ("A=1", "1 of 1 result")
        assert line.note.startswith("at most 58.5 points: "), line.note

    def test_nothing_varied(self):
        (self.folder / "a.tsv").write_text(tsv("syncbench", COLUMNS[2:], [["ring", "NA", 2, 1, 0, 1,
                                                                           "ok"]]))
        assert best_setting.best_of_result(str(self.folder), tables.Tables([str(self.folder)])) == []
        assert not list(change_lines.best_settings([]))
