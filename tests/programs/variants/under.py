#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests of a build with a tool put before each program of the build.

usage: under.py --label=REGEX [--without=REGEX] [--limit=SECONDS] BUILD -- TOOL...

A test's own verdict doesn't count, since tools change times; one that doesn't end in its time does.
"""

import argparse
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
from mpi_run import ask_ctest  # noqa: E402


def tests_of(build):
    """The tests as CTest knows them: name, command, properties."""
    for test in json.loads(ask_ctest(build, "--show-only=json-v1"))["tests"]:
        yield test["name"], test.get("command", []), {item["name"]: item["value"] for item in test["properties"]}


def with_tool(command, build, tool):
    """The command with the tool before the first program of the build; None if there is none."""
    for i, word in enumerate(command):
        if word.startswith(build + "/") and os.access(word, os.X_OK) and os.path.isfile(word):
            return command[:i] + tool + command[i:]
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--label", required=True)
    parser.add_argument("--without", default="$.")
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("build")
    parser.add_argument("tool", nargs="+")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    late = 0
    for name, command, properties in tests_of(build):
        line = with_tool(command, build, options.tool)
        if line is None or re.fullmatch(options.without, name) or \
                not any(re.fullmatch(options.label, label) for label in properties.get("LABELS", [])):
            continue
        environment = dict(os.environ, **dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", [])))
        try:
            status = subprocess.run(line, env=environment, timeout=options.limit, check=False,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    stdin=subprocess.DEVNULL).returncode
            print(f"{name}: exit status {status}", flush=True)
        except subprocess.TimeoutExpired:
            print(f"{name}: no end after {options.limit:g} s", flush=True)
            late += 1
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
