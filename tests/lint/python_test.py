# SPDX-License-Identifier: BSD-3-Clause
"""The scripts in Python run with Python 3.6 and its standard library, which is what old clusters have; their rooms
stand one on the other."""

import ast
import os
import sys

from case import Case, each

PACKAGE = os.path.join(Case.source, "run_scripts", "commcost")
# Of the standard library, what came later than 3.6.
LATER = {"dataclasses", "contextvars", "importlib.resources", "importlib.metadata", "zoneinfo", "graphlib", "tomllib"}
LATER_WORDS = {"capture_output", "text", "missing_ok", "dirs_exist_ok"}


# Rooms, lowest layer first: a room uses itself, rooms of lower layers, and the modules that are in no room.
LAYERS = [{"result"}, {"suite"}, {"compare"}, {"scorecard"}, {"report", "cost", "tune", "checkup"}]
ROOMS = sorted(set().union(*LAYERS))
IMPORTS_MAX = 8  # of our own modules, in one of them
FILES = sorted(os.path.relpath(os.path.join(folder, name), PACKAGE)
               for folder, _, names in os.walk(PACKAGE) for name in names if name.endswith(".py"))


def tree_of(path):
    with open(os.path.join(PACKAGE, path), encoding="utf-8") as stream:
        return ast.parse(stream.read(), path, feature_version=(3, 6))


def imported(tree):
    """The modules that a file imports, rooms included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield from (f"{node.module}.{alias.name}" if node.module.startswith("commcost") else node.module
                        for alias in node.names)


def own_modules(path):
    """The modules of ours that a file imports, as paths."""
    used = set()
    for module in imported(tree_of(path)):
        parts = module.split(".")[1:]
        if module.startswith("commcost"):
            used |= {found for found in ("/".join([*parts[:count]]) + ".py" for count in (1, 2)) if found in FILES}
    return used - {path}


def layer_of(path):
    """The layer of a file's room; -1 for a module that is in no room."""
    return next((number for number, rooms in enumerate(LAYERS) if path.split("/")[0] in rooms), -1)


class Rooms(Case):
    def test_every_room_has_a_layer(self):
        self.assertEqual(ROOMS, sorted({path.split("/")[0] for path in FILES if "/" in path}))

    @each("path", FILES)
    def test_layers(self, path):
        for used in own_modules(path) if path != "__main__.py" else ():
            assert layer_of(used) < layer_of(path) or path.split("/")[0] == used.split("/")[0] or layer_of(used) == -1, used

    @each("path", FILES)
    def test_imports(self, path):
        used = own_modules(path)
        assert len(used) <= IMPORTS_MAX, sorted(used)

    def test_no_circle(self):
        left = {path: own_modules(path) for path in FILES}
        while left:
            lowest = {path for path, used in left.items() if not used & set(left)}
            assert lowest, f"these import each other: {left}"
            left = {path: used for path, used in left.items() if path not in lowest}

    @each("room", ROOMS)
    def test_says_what_is_in_it(self, room):
        modules = {os.path.basename(path)[:-len(".py")] for path in FILES if path.startswith(room + os.sep)}
        said = ast.get_docstring(tree_of(os.path.join(room, "__init__.py")), clean=False)
        assert {line.split()[0] for line in said.splitlines() if line.startswith("    ")} == modules - {"__init__"}


class Python36(Case):
    @each("path", FILES)
    def test_syntax(self, path):
        tree = tree_of(path)
        for module in imported(tree):
            assert module not in LATER
            assert module.split(".")[0] in {*sys.stdlib_module_names, "commcost"}, module
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called.startswith(("subprocess.", "os.", "shutil.")):
                    assert not {keyword.arg for keyword in node.keywords} & LATER_WORDS, (node.lineno, called)


class VirtualTests(Case):
    def test_run_as_programs(self):
        """CTest starts each as a program: one that doesn't call main() would pass without a test."""
        folder = os.path.join(Case.source, "tests", "virtual")
        files = [name for name in os.listdir(folder) if name.endswith("_test.py")]
        assert files
        for name in files:
            with open(os.path.join(folder, name), encoding="utf-8") as stream:
                assert stream.read().endswith('\nif __name__ == "__main__":\n    virtual.main()\n'), name
