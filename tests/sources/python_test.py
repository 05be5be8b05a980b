"""The scripts in Python run with Python 3.6 and its standard library, which is what old clusters have."""

import ast
import os
import sys

from case import Case, each

PACKAGE = os.path.join(Case.source, "run_scripts", "commcost")
# Of the standard library, what came later than 3.6.
LATER = {"dataclasses", "contextvars", "importlib.resources", "importlib.metadata", "zoneinfo", "graphlib", "tomllib"}
LATER_WORDS = {"capture_output", "text", "missing_ok", "dirs_exist_ok"}


class Python36(Case):
    @each("name", sorted(name for name in os.listdir(PACKAGE) if name.endswith(".py")))
    def test_syntax(self, name):
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
                if called.startswith(("subprocess.", "os.", "shutil.")):
                    assert not {keyword.arg for keyword in node.keywords} & LATER_WORDS, (node.lineno, called)
