"""A report as a tree of parts, and how that becomes HTML, Markdown or plain text.

The HTML is one file that needs no script and no network; it is well-formed XML, too.
"""

import html
import os
import re
import textwrap
import typing

from commcost.command import plain
from commcost.system import SCRIPTS

STYLE = os.path.join(SCRIPTS, "report", "style.css")


class Text(typing.NamedTuple):
    """A paragraph."""

    text: str
    small: bool = False


class Item(typing.NamedTuple):
    """A sentence of a list, and what is to be said of it besides."""

    text: str
    more: str = ""


class Items(typing.NamedTuple):
    """A list; `kind` is its class."""

    items: list
    kind: str


class Column(typing.NamedTuple):
    """A table's column: its heading, its name, and whether it holds numbers."""

    heading: str
    name: str
    is_number: bool = False


class Mark(typing.NamedTuple):
    """A table's cell with a colour, or a link to the row of another table; `kind` is its class."""

    text: str
    kind: str = ""
    link: str = ""

    def __str__(self):
        return self.text


class Row(typing.NamedTuple):
    """A table's row; its cells are texts or Marks."""

    cells: list
    identity: str = ""
    kind: str = ""


class Grid(typing.NamedTuple):
    """A table; `kind` is its class."""

    columns: list
    rows: list
    kind: str = "rows"


class Figure(typing.NamedTuple):
    """A picture: an SVG file, what it is called, and its title."""

    path: str
    name: str
    title: str


class Closed(typing.NamedTuple):
    """Parts that are shown when their summary is clicked; in Markdown and text they are left out."""

    identity: str
    summary: str
    parts: list


class Section(typing.NamedTuple):
    """Parts under a heading. `kind` is its class."""

    identity: str
    heading: str
    parts: list
    kind: str = ""


class Page(typing.NamedTuple):
    """A report. The contents list the sections from number `first_listed` on."""

    title: str
    sections: list
    footer: str
    first_listed: int = 0


# ---- HTML ----------------------------------------------------------------------------------------

def escaped(text):
    """Text in HTML, of one line and without what a terminal or a page can't show."""
    return html.escape(plain(str(text)), quote=True)


def attributes(**named):
    """Attributes with a value; class_ is class, data_column data-column."""
    return "".join(f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
                   for name, value in named.items() if value)


def picture_of(figure):
    """The SVG with names of its own inside, since all share one page."""
    with open(figure.path, encoding="utf-8") as stream:
        text = stream.read()
    name = escaped(figure.name)
    text = re.sub(r"""\bid=(['"])""", lambda found: f"{found.group()}{name}-", text)
    text = re.sub(r"""href=(['"])#""", lambda found: f"{found.group()}{name}-", text)
    return text.replace("url(#", f"url(#{name}-").strip()


def html_of_grid(grid):
    lines = ['<div class="scroll"><table' + attributes(class_=grid.kind) + ">"]
    if any(column.heading for column in grid.columns):
        lines.append(f"<thead><tr>{''.join(map(html_of_heading, grid.columns))}</tr></thead>")
    lines.append("<tbody>")
    lines += ["<tr" + attributes(id=row.identity, class_=row.kind) + ">" +
              "".join(map(html_of_cell, grid.columns, row.cells)) + "</tr>" for row in grid.rows]
    return lines + ["</tbody></table></div>"]


def html_of_heading(column):
    kind = "number" if column.is_number else ""
    return f"<th{attributes(class_=kind, data_column=column.name)}>{escaped(column.heading)}</th>"


def html_of_cell(column, cell):
    """Texts are th, so that numbers need no class: a page has thousands."""
    text, tag, kind = escaped(cell), "td" if column.is_number else "th", ""
    if isinstance(cell, Mark):
        text = f'<a href="#{escaped(cell.link)}">{text}</a>' if cell.link else text
        kind = cell.kind
    return f"<{tag}{attributes(class_=kind)}>{text}</{tag}>"


def html_of_item(item):
    more = f'<br/><span class="small">{escaped(item.more)}</span>' if item.more else ""
    return f"<li>{escaped(item.text)}{more}</li>"


def html_of(part):
    """The lines of a part."""
    if isinstance(part, Text):
        return [f"<p{attributes(class_='small' if part.small else '')}>{escaped(part.text)}</p>"]
    if isinstance(part, Items):
        return [f'<ul class="{part.kind}">', *map(html_of_item, part.items), "</ul>"]
    if isinstance(part, Grid):
        return html_of_grid(part)
    if isinstance(part, Figure):
        return [f'<figure role="img" aria-label="{escaped(part.title)}">', picture_of(part), "</figure>"]
    inner = [line for below in part.parts for line in html_of(below)]
    if isinstance(part, Closed):
        return [f"<details{attributes(id=part.identity)}><summary>{escaped(part.summary)}</summary>", *inner,
                "</details>"]
    return [f"<section{attributes(id=part.identity, class_=part.kind)}>",
            f"<h2>{escaped(part.heading)}</h2>", *inner, "</section>"]


def html_of_page(page):
    """The whole page as one text."""
    with open(STYLE, encoding="utf-8") as stream:
        style = stream.read()
    before, listed = page.sections[:page.first_listed], page.sections[page.first_listed:]
    contents = [f'<a href="#{escaped(part.identity)}">{escaped(part.heading)}</a>' for part in listed]
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8"/>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        f"<title>{escaped(page.title)}</title>", "<style>", style.rstrip(),
        "</style></head><body>", f"<h1>{escaped(page.title)}</h1>",
        *(line for part in before for line in html_of(part)), "<nav>", *contents, "</nav>",
        *(line for part in listed for line in html_of(part)),
        f'<footer class="small"><p>{escaped(page.footer)}</p></footer>', "</body></html>", ""])


# ---- Markdown ------------------------------------------------------------------------------------

def words_of(text):
    """Text in Markdown: no HTML, link, picture or code of its own."""
    return re.sub(r"[][\\`*~]", r"\\\g<0>", plain(str(text))).replace("<", "&lt;")


def cell_of(text):
    return words_of(text).replace("|", "\\|")


def markdown_of(part):
    """The lines of a part, each part with an empty line after it. Pictures and what is closed are left out."""
    if isinstance(part, Text):
        return [words_of(part.text), ""]
    if isinstance(part, Items):
        return ["- " + words_of(item.text + (f" ({item.more})" if item.more else ""))
                for item in part.items] + [""]
    if isinstance(part, Grid):
        head = [cell_of(column.heading) for column in part.columns]
        rule = ["---:" if column.is_number else "---" for column in part.columns]
        return ["| " + " | ".join(map(cell_of, cells)) + " |"
                for cells in [head, rule, *(row.cells for row in part.rows)]] + [""]
    if isinstance(part, (Figure, Closed)):
        return []
    inner = [line for below in part.parts for line in markdown_of(below)]
    return [f"## {words_of(part.heading)}", "", *inner] if inner else []


def markdown_of_page(page):
    """The whole page as one text."""
    lines = [f"# {words_of(page.title)}", "",
             *(line for part in page.sections for line in markdown_of(part)),
             words_of(page.footer)]
    return "\n".join(lines) + "\n"


# ---- plain text ----------------------------------------------------------------------------------

WIDTH = 100  # of a terminal


def text_of(part):
    """The lines of a part, each part with an empty line after it. Pictures and what is closed are left out."""
    if isinstance(part, Text):
        return textwrap.wrap(plain(part.text), WIDTH) + [""]
    if isinstance(part, Items):
        return [line for item in part.items
                for line in textwrap.wrap(plain(f"{item.text} {item.more}").rstrip(), WIDTH,
                                          initial_indent="- ",
                                          subsequent_indent="  ", break_long_words=False,
                                          break_on_hyphens=False)] + [""]
    if isinstance(part, Grid):
        cells = [[column.heading for column in part.columns],
                 *([plain(str(cell)) for cell in row.cells] for row in part.rows)]
        widths = [max(map(len, texts)) for texts in zip(*cells)]
        return ["  ".join(text.rjust(width) if column.is_number else text.ljust(width)
                          for text, width, column in zip(texts, widths, part.columns)).rstrip()
                for texts in cells] + [""]
    if isinstance(part, (Figure, Closed)):
        return []
    heading = plain(part.heading)
    return [heading, "-" * len(heading), *(line for below in part.parts for line in text_of(below))]


def text_of_page(page):
    """The whole page as one text."""
    title = plain(page.title)
    return "\n".join([title, "=" * len(title), "",
                      *(line for part in page.sections for line in text_of(part)),
                      plain(page.footer)]) + "\n"
