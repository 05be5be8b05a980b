# SPDX-License-Identifier: BSD-3-Clause
"""A report as a tree of parts, each of which can be written as HTML, Markdown and plain text.

The HTML is one file without scripts or network, and well-formed XML. In Markdown and plain text an empty line follows
each part; pictures and closed parts are omitted.
"""

import html as html_words
import os
import re
import textwrap
import typing

from commcost.command import plain
from commcost.system import SCRIPTS

STYLE = os.path.join(SCRIPTS, "report", "style.css")
WIDTH = 100  # of a terminal
COLUMNS_MOST = 10  # of a matrix of numbers; of more columns only every second, third ... is shown
ASCII = {"µ": "u", "–": "-", "…": "...", "×": "x"}


def escaped(text):
    return html_words.escape(plain(str(text)), quote=True)


def attributes(**named):
    """Returns the attributes that have a value; class_ becomes class, data_column becomes data-column."""
    return "".join(f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
                   for name, value in named.items() if value)


def words_of(text):
    """Returns the text in Markdown, without HTML, links, pictures or code."""
    return re.sub(r"[][\\`*~]", r"\\\g<0>", plain(str(text))).replace("<", "&lt;")


def lines_of(parts, form):
    """Returns the lines of all parts in a form (html, markdown or text); some parts lack forms."""
    return [line for part in parts for line in getattr(part, f"as_{form}", list)()]


class Text(typing.NamedTuple):
    """A paragraph."""

    text: str
    small: bool = False

    def as_html(self):
        return [f"<p{attributes(class_='small' if self.small else '')}>{escaped(self.text)}</p>"]

    def as_markdown(self):
        return [words_of(self.text), ""]

    def as_text(self):
        return textwrap.wrap(plain(self.text), WIDTH) + [""]


class Items(typing.NamedTuple):
    """A list of sentences, each with optional lines for a command or details. `kind` is its class."""

    items: list
    kind: str

    def as_html(self):
        items = [list(map(escaped, item.split("\n"))) for item in self.items]
        return [f'<ul class="{self.kind}">', *("<li>" + '<br/><span class="small">'.join(item) +
                                               "</span>" * (len(item) - 1) + "</li>" for item in items), "</ul>"]

    def as_markdown(self):
        return ["- " + words_of(re.sub("\n(.*)", r" (\1)", item)) for item in self.items] + [""]

    def as_text(self):
        return [line for item in self.items for sentence, _, more in [item.partition("\n")]
                for line in [*textwrap.wrap(plain(sentence), WIDTH, initial_indent="- ", subsequent_indent="  ",
                                            break_long_words=False, break_on_hyphens=False),
                             *(["  " + plain(more)] if more else [])]] + [""]


class Column(typing.NamedTuple):
    """A table's column: its heading, its name if different, and True if it has numbers."""

    heading: str
    name: str = ""
    is_number: bool = False


class Mark(typing.NamedTuple):
    """A table's cell with a colour, or with a link to a row of another table. `kind` is its class."""

    text: str
    kind: str = ""
    link: str = ""

    def __str__(self):
        return self.text


class Row(typing.NamedTuple):
    """A table's row of texts or Marks."""

    cells: list
    identity: str = ""
    kind: str = ""


class Grid(typing.NamedTuple):
    """A table; `kind` is its class."""

    columns: list
    rows: list
    kind: str = "rows"

    def as_html(self):
        lines = ['<div class="scroll"><table' + attributes(class_=self.kind) + ">"]
        if any(column.heading for column in self.columns):
            kinds = [attributes(class_="number" if column.is_number else "", data_column=column.name or column.heading)
                     for column in self.columns]
            heads = (f"<th{kind}>{escaped(column.heading)}</th>" for kind, column in zip(kinds, self.columns))
            lines.append(f"<thead><tr>{''.join(heads)}</tr></thead>")
        lines.append("<tbody>")
        lines += ["<tr" + attributes(id=row.identity, class_=row.kind) + ">" +
                  "".join(map(html_of_cell, self.columns, row.cells)) + "</tr>" for row in self.rows]
        return lines + ["</tbody></table></div>"]

    def as_markdown(self):
        rule = ["---:" if column.is_number else "---" for column in self.columns]
        cells = [[words_of(cell).replace("|", "\\|") for cell in row] for row in self._heads_and_cells()]
        return ["| " + " | ".join(row) + " |" for row in [cells[0], rule, *cells[1:]]] + [""]

    def as_text(self):
        cells = [[plain(str(cell)) for cell in row] for row in self._heads_and_cells()]
        widths = [max(map(len, texts)) for texts in zip(*cells)]
        return ["  ".join(text.rjust(width) if column.is_number else text.ljust(width)
                          for text, width, column in zip(texts, widths, self.columns)).rstrip()
                for texts in cells] + [""]

    def _heads_and_cells(self):
        return [[column.heading for column in self.columns], *(row.cells for row in self.rows)]


def grid_of(columns, kind="rows", rows=()):
    """Returns a Grid of `columns` (cells by Column). `rows` are pairs of each row's identity and kind, if any."""
    cells = list(map(list, zip(*columns.values())))
    return Grid(list(columns), [Row(of_row, *more) for of_row, more in zip(cells, rows or [()] * len(cells))], kind)


def html_of_cell(column, cell):
    """Returns a cell. Texts are th, so that the thousands of numbers on a page need no class."""
    text, tag, kind = escaped(cell), "td" if column.is_number else "th", ""
    if isinstance(cell, Mark):
        text = f'<a href="#{escaped(cell.link)}">{text}</a>' if cell.link else text
        kind = cell.kind
    return f"<{tag}{attributes(class_=kind)}>{text}</{tag}>"


def matrix_parts(found, heading, column_of, legend, most=COLUMNS_MOST):
    """Returns parts that show Marks by row name and column value (place), up to `most` columns, with a legend, or none
    without marks. `column_of` makes the heading of a place."""
    places = sorted({place for marks in found.values() for place in marks}, reverse=True)
    places = places[::-(-len(places) // most) or 1][::-1]  # every nth, always including the last one
    columns = [Column(heading, "what"), *(Column(column_of(place), "", True) for place in places)]
    rows = [Row([name, *(marks.get(place, "") for place in places)]) for name, marks in found.items()
            if any(place in marks for place in places)]
    return [Grid(columns, rows, "matrix"), Text(legend, small=True)] if rows else []


class Figure(typing.NamedTuple):
    """A picture: an SVG file, its name and its title."""

    path: str
    name: str
    title: str

    def as_html(self):
        """Returns the SVG, with its internal names prefixed, since all pictures share one page."""
        with open(self.path, encoding="utf-8") as stream:
            text = stream.read()
        text = re.sub(r"""\bid=['"]|href=['"]#|url\(#""", lambda found: f"{found.group()}{escaped(self.name)}-", text)
        return [f'<figure role="img" aria-label="{escaped(self.title)}">', text.strip(), "</figure>"]


class Closed(typing.NamedTuple):
    """Parts that a click on their summary shows."""

    identity: str
    summary: str
    parts: list

    def as_html(self):
        return [f"<details{attributes(id=self.identity)}><summary>{escaped(self.summary)}</summary>",
                *lines_of(self.parts, "html"), "</details>"]


class Section(typing.NamedTuple):
    """Parts under a heading. `kind` is its class."""

    identity: str
    heading: str
    parts: list
    kind: str = ""

    def as_html(self):
        return [f"<section{attributes(id=self.identity, class_=self.kind)}>", f"<h2>{escaped(self.heading)}</h2>",
                *lines_of(self.parts, "html"), "</section>"]

    def as_markdown(self):
        inner = lines_of(self.parts, "markdown")
        return [f"## {words_of(self.heading)}", "", *inner] if inner else []

    def as_text(self):
        heading = plain(self.heading)
        return [heading, "-" * len(heading), *lines_of(self.parts, "text")]


class Page(typing.NamedTuple):
    """A report. Its table of contents begins with section number `first_listed`."""

    title: str
    sections: list
    footer: str
    first_listed: int = 0

    def as_html(self):
        with open(STYLE, encoding="utf-8") as stream:
            style = stream.read()
        before, listed = self.sections[:self.first_listed], self.sections[self.first_listed:]
        contents = [f'<a href="#{escaped(part.identity)}">{escaped(part.heading)}</a>' for part in listed]
        return "\n".join([
            "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<title>{escaped(self.title)}</title>", "<style>", style.rstrip(),
            "</style></head><body>", f"<h1>{escaped(self.title)}</h1>",
            *lines_of(before, "html"), "<nav>", *contents, "</nav>", *lines_of(listed, "html"),
            f'<footer class="small"><p>{escaped(self.footer)}</p></footer>', "</body></html>", ""])

    def as_markdown(self):
        return "\n".join([f"# {words_of(self.title)}", "", *lines_of(self.sections, "markdown"),
                          words_of(self.footer), ""])

    def as_text(self):
        title = plain(self.title)
        return "\n".join([title, "=" * len(title), "", *lines_of(self.sections, "text"), plain(self.footer), ""])


def readable(text):
    """Returns the text in ASCII if the locale isn't UTF-8."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    return text if re.search("utf-?8", locale, re.I) else re.sub(
        f"[{''.join(ASCII)}]", lambda found: ASCII[found.group()], text)
