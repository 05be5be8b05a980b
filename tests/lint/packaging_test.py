# SPDX-License-Identifier: BSD-3-Clause
"""Packaging: each source names its licence, and all files that name the version name the same."""

import os
import re
import subprocess

from case import Case

SOURCES = re.compile(r"\.([ch]|def|[ch]\.in|py|sh|sh\.in|cmake|gp|css|eb|supp|[fF]90)$|(CMakeLists\.txt|Containerfile)$")
LICENCE_LINE = re.compile(r"(#!.*\n)?(#|!|/\*) SPDX-License-Identifier: BSD-3-Clause( \*/)?\n")


def files_of_tree(top):
    """Lists the files of the source tree, without those that git ignores."""
    if os.path.exists(os.path.join(top, ".git")):
        command = ["git", "-C", top, "ls-files", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout.splitlines()
        return [name for name in names if os.path.isfile(os.path.join(top, name))]
    return [os.path.relpath(os.path.join(parent, name), top) for parent, folders, names in os.walk(top) for name in names
            if not re.search(r"/(build|results|__pycache__|\.)", parent[len(top):])]


def read(name):
    with open(os.path.join(Case.source, name), encoding="utf-8") as stream:
        return stream.read()


def is_source(name):
    return bool(SOURCES.search(name)) or "." not in name and read(name).startswith("#!")


class Packaging(Case):
    def test_licence_lines(self):
        """The first line of each source, after a shebang, names the licence."""
        assert read("LICENSE").startswith("BSD 3-Clause License\n")
        without = [name for name in files_of_tree(self.source) if is_source(name) and not LICENCE_LINE.match(read(name))]
        assert without == []

    def test_version(self):
        """The version is in run_scripts/commcost/__init__.py. Files that other tools read repeat it."""
        version = re.search('__version__ = "(.*)"', read("run_scripts/commcost/__init__.py")).group(1)
        first = {"debian/changelog": r"commcost \((.*)\)", "CITATION.cff": r"version: (.*)", "CHANGELOG.md": r"## (.*)"}
        named = {name: re.search("^" + pattern, read(name), re.M).group(1) for name, pattern in first.items()}
        assert named == dict.fromkeys(first, version), named
