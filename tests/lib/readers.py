"""Results as their readers' own tools read them."""

import shutil
import subprocess
import sys

# Debian's pandas is for Debian's Python, whichever comes first in PATH.
PYTHON = shutil.which("python3", path="/usr/bin") or sys.executable


def in_pandas_and_r(path, in_pandas, in_r):
    """What both say of a result, their table t, by these expressions with commas between."""
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
