# SPDX-License-Identifier: BSD-3-Clause
"""The page of a result: the scorecard, changes from a base, a section per question (question_sections.py), warnings,
machine and notes."""

import shutil

from commcost.compare.best_setting import best_of_result
from commcost.page import Figure, Page, Text
from commcost.report import change_sections, plot, question_sections, report_sections
from commcost.result.tables import BASE, NEW
from commcost.scorecard.scorecard import card_of

FOOTER = ("1 MB/s is 2^20 bytes/s, 1 GB/s is 2^30 bytes/s. NA: no value. "
          "Made by commcost. The .tsv files have all columns.")


class Report:
    """A result, maybe with a base: its scorecard `card`, and its pages.

    paths   of the result and its base
    tables  Tables of both
    """

    def __init__(self, paths, tables):
        self.paths, self.tables = paths, tables
        self._best = best_of_result(paths[0], tables)
        changes, self._changes = change_sections.changes_from(paths[1], paths[0]) if len(paths) > 1 else ([], [])
        self.card = card_of(tables, self._best, changes)

    def page(self, drawn, pictures_note=""):
        """Returns the Page. `drawn` are Figures by group of kinds."""
        tables = self.tables
        title = f"Communication costs: {tables.labels[NEW]}"
        if BASE in tables.labels:
            title += f" against {tables.labels[BASE]}"
        answers = report_sections.card_sections(self.card)
        settings = [change_sections.settings_section(self._best)] if self._best else []
        return Page(title, [Text(self.card.title), *answers, *self._changes, *settings,
                            *question_sections.sections_of(tables, drawn),
                            report_sections.warnings_section(tables, pictures_note),
                            report_sections.machine_section(tables)],
                    FOOTER, first_listed=1 + len(answers))

    def page_with_pictures(self, into, warn):
        """Returns the Page with a picture of each group of kinds, drawn into a folder. `warn` gets a line about each
        picture that can't be drawn."""
        if shutil.which("gnuplot") is None:
            warn("no gnuplot: a page without pictures")
            return self.page({}, "No pictures: gnuplot is not installed (Debian: gnuplot-nox).")
        figures, note = {}, ""
        for group, kinds in plot.groups_of(self.tables).items():
            drawn, good = plot.draw_group(self.tables, group, kinds, plot.Drawing(into, ("svg",), most=1), warn)
            for picture, path in drawn:
                figures[group] = Figure(path, picture.name, picture.title)
            note = note if good else "Some pictures could not be drawn."
        return self.page(figures, note)
