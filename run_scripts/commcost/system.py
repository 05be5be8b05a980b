"""Files and commands of the system."""

import datetime
import os
import shlex
import subprocess

SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # run_scripts
TOP = os.path.dirname(SCRIPTS)  # of the source tree, or what is installed of it
IS_TREE = os.path.exists(os.path.join(TOP, "CMakeLists.txt"))


def to_start(script):
    """The word of a shell that starts a script of run_scripts in the current folder; installed, it is a command
    (Install.cmake)."""
    if not IS_TREE:
        return f"commcost-{script[:-len('.sh')].replace('_', '-')}"
    return shlex.quote(from_here(os.path.join(SCRIPTS, script)))


def from_here(path):
    """The path as seen from the current folder, where that is shorter."""
    return min(os.path.relpath(path), path, key=len)


def said_by(*words, cwd=None, errors=subprocess.DEVNULL):
    """What a command prints; "" where there is none."""
    try:
        done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=errors, check=False)
    except OSError:
        return ""
    return done.stdout.decode("utf-8", "replace")


def lines_of(path):
    """The lines of a file; none where it can't be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().splitlines()
    except OSError:
        return []


def now():
    """Date and time as results have them."""
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S%z")


def remove(path):
    """Removes a file or a link, if it is there."""
    if os.path.lexists(path):
        os.remove(path)


def replace_file(path, content, is_named=False):
    """A file gets this text, or these bytes, whole or not at all. A link in its place is replaced, not
    followed, unless the user named it: then what is there and no file (a pipe, a device) is written to."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    if is_named:
        path = os.path.realpath(path)
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as stream:
                stream.write(content)
            return
    new = path + ".new"
    try:
        remove(new)
        with open(new, "xb") as stream:
            stream.write(content)
        os.replace(new, path)
    except OSError:
        if os.path.isfile(new):
            os.remove(new)
        raise
