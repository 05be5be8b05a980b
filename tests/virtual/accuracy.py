"""Writes the tables of docs/accuracy.md, from what the last run of the virtual tests found.

usage: accuracy.py BUILD docs/accuracy.md

A table stands between the lines "<!-- NAME -->" and "<!-- end -->"; its first two lines stay.
"""

import os
import re
import sys


def rows_of(folder, table):
    names = sorted(name for name in os.listdir(folder) if name.startswith(table + "."))
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            yield stream.read()


def main():
    build, page = sys.argv[1:]
    folder = os.path.join(build, "tests/virtual/found")
    with open(page, encoding="utf-8") as stream:
        text = stream.read()

    def written(match):
        return match[1] + match[3] + "".join(rows_of(folder, match[2])) + "<!-- end -->"

    text = re.sub(r"(<!-- (\w+) -->\n\n?)((?:\|[^\n]*\n){2}).*?<!-- end -->", written, text, flags=re.S)
    with open(page, "w", encoding="utf-8") as stream:
        stream.write(text)


if __name__ == "__main__":
    main()
