"""The scripts in Python run with Python 3.6 and its standard library, which is what old clusters
have."""

import ast
import os
import sys

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(TOP, "run_scripts", "commcost")
FILES = sorted(name for name in os.listdir(PACKAGE) if name.endswith(".py"))
# Of the standard library, what came later than 3.6.
LATER = {"dataclasses", "contextvars", "importlib.resources", "importlib.metadata", "zoneinfo",
         "graphlib", "tomllib"}
LATER_WORDS = {"capture_output", "text", "missing_ok", "dirs_exist_ok"}


@pytest.mark.parametrize("name", FILES)
def test_syntax(name):
    with open(os.path.join(PACKAGE, name), encoding="utf-8") as stream:
        tree = ast.parse(stream.read(), name, feature_version=(3, 6))
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            modules = [node.module]
        for module in modules:
            assert module not in LATER
            assert module.split(".")[0] in {*sys.stdlib_module_names, "commcost"}, module
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            words = {keyword.arg for keyword in node.keywords}
            if called.startswith(("subprocess.", "os.", "shutil.")):
                assert not words & LATER_WORDS, (node.lineno, called)
