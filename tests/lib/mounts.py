# SPDX-License-Identifier: BSD-3-Clause
"""Small file systems that a command or a test alone sees, and that end with it."""

import ctypes
import os
import subprocess
import unittest


def own_mounts():
    """The words before a command that may mount what nobody else sees. Skips the test where
    nothing can be mounted."""
    words = ["unshare", "--mount"]
    try:
        tried = subprocess.run([*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], text=True,
                               stdin=subprocess.DEVNULL, capture_output=True, check=False)
        reason = None if tried.returncode == 0 else tried.stderr.strip() or "unshare failed"
    except FileNotFoundError:
        reason = "there is no unshare"
    if reason is not None:
        raise unittest.SkipTest(f"nothing can be mounted here: {reason}")
    return words


def with_small_fs(folder, kibibytes):
    """The words before a command that sees an empty file system of that size at the folder. Skips
    the test where that can't be made."""
    script = 'mount -t tmpfs -o "size=$2k" tmpfs "$1" && shift 2 && exec "$@"'
    return [*own_mounts(), "sh", "-c", script, "sh", str(folder), str(kibibytes)]


def enter_own_mounts():
    """From now on this process mounts what it and those that it starts see, and nobody else. Skips
    the test where nothing can be mounted. As `unshare --mount`; Python has it from 3.12."""
    own_mounts()
    clone_newns, ms_rec, ms_private = 0x20000, 0x4000, 0x40000
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.unshare(clone_newns) != 0 or
            libc.mount(b"none", b"/", None, ctypes.c_ulong(ms_rec | ms_private), None) != 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
