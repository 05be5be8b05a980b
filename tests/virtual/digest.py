# SPDX-License-Identifier: BSD-3-Clause
"""Makes one digest of what all virtual launches printed: BUILD/tests/virtual/results.sha256.

usage: digest.py BUILD
"""

import hashlib
import os
import sys


def main():
    folder = os.path.join(sys.argv[1], "tests/virtual")
    digests = os.path.join(folder, "digests")
    lines = []
    for name in sorted(os.listdir(digests)):
        with open(os.path.join(digests, name), encoding="ascii") as stream:
            lines += [name, *stream.read().splitlines()]
    line = "{} of {} jobs".format(hashlib.sha256("\n".join(lines).encode()).hexdigest(),
                                         len(lines) - len(os.listdir(digests)))
    with open(os.path.join(folder, "results.sha256"), "w", encoding="ascii") as stream:
        stream.write(line + "\n")
    print("virtual results: sha256", line)


if __name__ == "__main__":
    main()
