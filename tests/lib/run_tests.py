"""The end of a file of unittest's tests."""

import sys
import unittest

SKIP = 77


class Result(unittest.TextTestResult):
    """Knows whether anything was tested: a test or a part of one that wasn't skipped."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.succeeded = 0

    def addSuccess(self, test):  # noqa: N802  # unittest's name
        super().addSuccess(test)
        self.succeeded += 1

    def addSubTest(self, test, subtest, err):  # noqa: N802  # unittest's name
        super().addSubTest(test, subtest, err)
        self.succeeded += err is None


def run_tests(classes=()):
    """Runs these classes of the calling script, all without a name, and ends the
    process: with 0, with 1 if a test failed or there was none, with 77 if all that
    there was to test was skipped, whose reasons are on stderr."""
    runner = unittest.TextTestRunner(verbosity=2, resultclass=Result)
    result = unittest.main(argv=[sys.argv[0], *classes], testRunner=runner,
                           exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.succeeded == 0:
        sys.exit(SKIP if result.skipped else 1)
    sys.exit(0)
