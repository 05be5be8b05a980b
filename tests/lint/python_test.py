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


# What a room may use: itself, those before it, and the modules that are in none.
ROOMS = ["reading", "running", "drawing", "saying"]
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
            yield from (f"{node.module}.{alias.name}" if node.module == "commcost" else node.module
                        for alias in node.names)


class Rooms(Case):
    @each("path", [path for path in FILES if os.sep in path])
    def test_layers(self, path):
        allowed = ROOMS[:ROOMS.index(path.split(os.sep)[0]) + 1]
        used = {module.split(".")[1] for module in imported(tree_of(path)) if module.startswith("commcost.")}
        assert used & set(ROOMS) <= set(allowed), used

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
