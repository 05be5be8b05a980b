#!/usr/bin/env python3
"""Becomes a command that sees mounts of its own: what it mounts nobody else sees, and
it ends with it.

usage: own_mounts.py COMMAND...

Exit status: the command's; 77 with the reason where this can't be had."""

import os
import subprocess
import sys

SKIP = 77


def main():
    prefix = ["unshare", "--mount"]
    try:
        made = subprocess.run(prefix + ["mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                              capture_output=True, text=True, check=False)
        reason = made.stderr.strip() if made.returncode else ""
    except FileNotFoundError:
        reason = "there is no unshare"
    if reason:
        print("can't mount here:", reason)
        sys.exit(SKIP)
    os.execvp(prefix[0], prefix + sys.argv[1:])


if __name__ == "__main__":
    main()
