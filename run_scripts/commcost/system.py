# SPDX-License-Identifier: BSD-3-Clause
"""Files and commands of the system."""

import contextlib
import datetime
import os
import re
import shlex
import subprocess

SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # run_scripts
TOP = os.path.dirname(SCRIPTS)  # of the source tree or of the installation
IS_TREE = os.path.exists(os.path.join(TOP, "CMakeLists.txt"))


def quoted(words):
    return " ".join(map(shlex.quote, words))


def shell_command(*words):
    """Returns a command line for users, which works in any folder. Only an option's value is quoted, not its name."""
    found = [re.fullmatch("(--[a-z-]+=)?(.*)", word, re.S).groups("") for word in words]
    return " ".join(name + shlex.quote(value) for name, value in found)


def script(name):
    """Returns the word that starts a script of run_scripts. If installed, it is a command (Install.cmake)."""
    if IS_TREE:
        return os.path.join(SCRIPTS, name)
    return f"commcost-{name[:-len('.sh')].replace('_', '-')}" if name.endswith(".sh") else name


def short_path(path):
    """Returns the path relative to the current folder, if that is shorter."""
    return min(os.path.relpath(path), path, key=len)


def command_output(*words, cwd=None, errors=subprocess.DEVNULL):
    """Returns the output of a command, or "" if it can't be started."""
    try:
        done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=errors, check=False)
    except OSError:
        return ""
    return done.stdout.decode("utf-8", "replace")


def lines_of(path):
    """Returns the lines of a file, or none if it can't be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().splitlines()
    except OSError:
        return []


def now():
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S%z")


def remove(path):
    if os.path.lexists(path):
        os.remove(path)


@contextlib.contextmanager
def naming(path):
    """Adds this file's name to an OSError from within, since one from a write has no name."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


def replace_file(path, content, is_named=False):
    """Replaces a file with text or bytes atomically, even with several writers. A link is replaced, not followed,
    unless the user named it; then it may also lead to a pipe or device."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    if is_named:
        path = os.path.realpath(path)
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as stream:
                stream.write(content)
            return
    new = os.path.join(os.path.dirname(path), f".{os.urandom(8).hex()}.new")
    with naming(path):
        try:
            with open(new, "xb") as stream:
                stream.write(content)
            os.replace(new, path)
        except OSError:
            remove(new)
            raise


def is_half_written(name):
    """True if replace_file uses this name for an incomplete file."""
    return re.fullmatch(r"\.[0-9a-f]{16}\.new", name) is not None
