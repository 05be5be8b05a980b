# SPDX-License-Identifier: BSD-3-Clause
"""Results as their readers' own tools read them."""

import os
import shutil
import subprocess
import sys
from xml.etree import ElementTree

# Debian's pandas is for Debian's Python, whichever comes first in PATH.
PYTHON = shutil.which("python3", path="/usr/bin") or sys.executable
PIVOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../scripts/pivot.py")


def in_pandas_and_r(path, in_pandas, in_r):
    """Returns the output of both on a result, their table t, for these expressions with commas between."""
    said = []
    for words in ([PYTHON, "-c", "import sys, pandas\n"
                   "t = pandas.read_csv(sys.argv[1], sep='\\t', comment='#')\n"
                   f"print({in_pandas})", path],
                  ["Rscript", "-e", "t <- read.delim(commandArgs(TRUE)[1], comment.char = '#'); "
                   f"cat({in_r})", path]):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        said.append(done.stdout.strip() or done.stderr)
    return said


def pivot_in_libreoffice(path, language, rows, columns, data):
    """The lines of a pivot table: sums of the column `data` by the columns `rows` and `columns`."""
    done = subprocess.run([PYTHON, PIVOT, path, str(language), rows, columns, data], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=True)
    return [line.split("\t") for line in done.stdout.splitlines() if line.strip()]


def cells_in_libreoffice(path, language):
    """The rows that LibreOffice makes of a file of tab-separated values, in the language of that
    number (1033: English, 1031: German): lists of numbers and texts."""
    # Tab, ", UTF-8, from the first line on; texts are no special numbers, as dates are.
    subprocess.run(["soffice", "--headless", f"-env:UserInstallation=file://{path.parent}/office",
                    f"--infilter=Text - txt - csv (StarCalc):9,34,76,1,,{language},false,false",
                    "--convert-to", "fods", "--outdir", path.parent, path],
                   capture_output=True, timeout=120, check=True)
    names = {prefix: f"{{urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0}}"
             for prefix in ("table", "office", "text")}
    rows = []
    for row in ElementTree.parse(path.with_suffix(".fods")).iter(names["table"] + "table-row"):
        cells = []
        for cell in row.iter(names["table"] + "table-cell"):
            kind = cell.get(names["office"] + "value-type")
            times = int(cell.get(names["table"] + "number-columns-repeated", "1"))
            if kind is None:
                continue
            text = "".join("".join(part.itertext()) for part in cell.iter(names["text"] + "p"))
            cells += times * [float(cell.get(names["office"] + "value")) if kind == "float" else
                              text]
        rows += int(row.get(names["table"] + "number-rows-repeated", "1")) * [cells] if cells else []
    return rows
