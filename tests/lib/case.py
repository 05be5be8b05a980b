#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the tests in Python: the build, the launcher, tables of cases, and the program that runs them.

usage: case.py FILE[::CLASS] --build=FOLDER [--mpirun=WORDS] [--full] [--many] [--virtual]
  --build   the build folder
  --mpirun  mpirun and its flags
  --full    every case, also those that take long
  --many    only the tests with more ranks than processors
  --virtual programs run in virtual time, except those that need the real MPI library

Exit status 77 (CTest's word for skipped) where every test was skipped. Needs Python 3.6 and nothing beside its standard
library.
"""

import argparse
import functools
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import unittest
import unittest.mock

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "lib"), os.path.join(os.path.dirname(TESTS), "run_scripts")]
sys.dont_write_bytecode = True
from mpi_run import WHOLE, Launcher, assert_refused, call, read_tsv, run_raw  # noqa: E402,F401

SKIPPED = 77
# Only a program that hangs takes longer.
REFUSED_S = 60


class Case(unittest.TestCase):
    """Base of all tests. Plain `assert` is enough: the runner prints the local variables where one fails."""

    source = os.path.dirname(TESTS)
    build = launcher = None  # set by main
    full = many = False

    def setUp(self):
        folder = tempfile.mkdtemp(prefix="commcost-test-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.folder = pathlib.Path(folder)  # empty at first, deleted at the end

    def built(self, name):
        """The path of a program or library of the build: built("halo/halo")."""
        path = os.path.join(self.build, name)
        assert os.path.exists(path), path + " was not built"
        return path

    def start(self, program, *options, ranks=2, **environment):
        """Starts a program of the build with options and environment variables. Returns the finished process."""
        return run_raw(self.launcher, ranks, [self.built(program), *options, *WHOLE], environment)

    def rows_of(self, program, *options, **how):
        """The rows of such a run, which must succeed."""
        done = self.start(program, *options, **how)
        assert done.returncode == 0, done.stdout + done.stderr
        return read_tsv(done.stdout)

    def refused(self, program, *options, named, ranks=2, environment=None):
        """Starts a program of the build with wrong options or variables. It must end with one line on stderr, which
        has the text `named` and a remedy. Returns the line."""
        done = run_raw(self.launcher, ranks, [self.built(program), *options], environment, timeout_s=REFUSED_S)
        line = assert_refused(done, os.path.basename(program), named)
        assert re.search(r"use |see --help|lower the one", line), line
        if not self.launcher.is_openmpi:  # whose mpirun adds its own
            assert len(done.stderr.splitlines()) == 1, done.stderr
        return line

    def replace(self, place, name, value):
        """Gives an attribute another value until the test ends."""
        replaced = unittest.mock.patch.object(place, name, value)
        replaced.start()
        self.addCleanup(replaced.stop)


class Near:
    """Equal to a number, or to each of a list, tuple or dict of numbers, that differs by no more than a share of the
    expected value or an absolute difference."""

    def __init__(self, expected, share=1e-6, difference=1e-12):
        self.expected, self.share, self.difference = expected, share, difference

    def __eq__(self, found):
        def near(one, expected):
            return one is not None and abs(one - expected) <= max(self.share * abs(expected), self.difference)
        if isinstance(self.expected, dict):
            return (found.keys() == self.expected.keys() and
                    all(near(found[key], value) for key, value in self.expected.items()))
        if isinstance(self.expected, (list, tuple)):
            return len(found) == len(self.expected) and all(map(near, found, self.expected))
        return near(found, self.expected)

    def __repr__(self):
        return "Near({!r}, {}, {})".format(self.expected, self.share, self.difference)


def within(expected, difference):
    """Equal to what differs from a number by no more than this."""
    return Near(expected, 0, difference)


def each(names, rows):
    """A test for each row of a table: its cells are the arguments of these names ("size, time_us"). Each row gets
    its own setUp and cleanup; all rows are tried, whichever fail. Of a class: for each of its tests."""
    names = names.replace(",", " ").split()
    rows = list(rows)

    def decorate(test):
        if isinstance(test, type):  # all tests of a class
            for name in unittest.TestLoader().getTestCaseNames(test):
                setattr(test, name, decorate(getattr(test, name)))
            return test

        @functools.wraps(test)
        def all_rows(self, **others):
            for row in rows:
                cells = dict(zip(names, row if len(names) > 1 else [row]))
                with self.subTest(**cells):
                    try:
                        test(self, **others, **cells)
                    finally:
                        self.doCleanups()
                        self.setUp()
        return all_rows
    return decorate


def by_ranks(few, more):
    """Rows of a table: with --many, which chooses tests with more ranks than processors, others."""
    return more if Case.many else few


def also_many(test):
    """A test, or a class of them, that --many chooses, too."""
    test.is_many = Case.many
    return test


def in_full(*rows):
    """These rows of a table with --full, else none."""
    return rows if Case.full else ()


def real(test):
    """A test, or a class of them, that needs the real MPI library."""
    return unittest.skipIf(Case.launcher.virtual, "with the real MPI library: ./tests/run.sh --all")(test)


def full(test):
    """A test, or a class of them, for --full only."""
    return unittest.skipUnless(Case.full, "with --full")(test)


def many(test):
    """A test, or a class of them, with more ranks than processors: for --many only."""
    test.is_many = True
    return test


class Result(unittest.TextTestResult):
    """Also knows whether anything passed."""

    passed = False

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed = True

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self.passed = self.passed or err is None


def tests_of(module, class_name):
    """The tests of a module, or of one of its classes, that --many chooses."""
    loader, chosen = unittest.TestLoader(), unittest.TestSuite()
    classes = [one for name, one in vars(module).items()
               if isinstance(one, type) and issubclass(one, unittest.TestCase) and class_name in (None, name)]
    for one in classes:
        for name in loader.getTestCaseNames(one):
            is_many = getattr(one, "is_many", False) or getattr(getattr(one, name), "is_many", False)
            if is_many == Case.many:
                chosen.addTest(one(name))
    return chosen


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("file")
    parser.add_argument("--build", required=True)
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--many", action="store_true")
    parser.add_argument("--virtual", action="store_true")
    options = parser.parse_args()
    Case.build = os.path.abspath(options.build)
    Case.launcher = Launcher(shlex.split(options.mpirun))
    Case.launcher.virtual = options.virtual
    Case.full, Case.many = options.full, options.many

    path, _, class_name = options.file.partition("::")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-len(".py")], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)

    tests = tests_of(module, class_name or None)
    assert tests.countTestCases() > 0, "no test in " + options.file
    result = unittest.TextTestRunner(tb_locals=True, verbosity=2, resultclass=Result).run(tests)
    reasons = dict.fromkeys(reason for _, reason in result.skipped)
    for reason in reasons:
        print("skipped:", reason)
    if not result.wasSuccessful():
        return 1
    return 0 if result.passed else SKIPPED


if __name__ == "__main__":
    import case  # the module that the tests import, not this one, which is __main__
    sys.exit(case.main())
