#!/usr/bin/env python3
"""Small file systems that a command alone sees, and that end with it.

usage: mounts.py COMMAND...   becomes a command that may mount what nobody else sees

Exit status: the command's; 77 with the reason where this can't be had."""

import os
import subprocess
import sys
import unittest

SKIP = 77
OWN_MOUNTS = ["unshare", "--mount"]


def why_not():
    """Why nothing can be mounted here; None if it can."""
    try:
        tried = subprocess.run(
            OWN_MOUNTS + ["mount", "-t", "tmpfs", "tmpfs", "/mnt"], text=True,
            stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError:
        return "there is no unshare"
    return None if tried.returncode == 0 else tried.stderr.strip() or "unshare failed"


def with_small_fs(folder, kibibytes):
    """The words before a command that sees an empty file system of that size at the
    folder. Skips the test where that can't be made."""
    reason = why_not()
    if reason is not None:
        raise unittest.SkipTest(f"no small file system can be mounted here: {reason}")
    script = 'mount -t tmpfs -o "size=$2k" tmpfs "$1" && shift 2 && exec "$@"'
    return OWN_MOUNTS + ["sh", "-c", script, "sh", folder, str(kibibytes)]


def main():
    reason = why_not()
    if reason is not None:
        print("can't mount here:", reason)
        sys.exit(SKIP)
    os.execvp(OWN_MOUNTS[0], OWN_MOUNTS + sys.argv[1:])


if __name__ == "__main__":
    main()
