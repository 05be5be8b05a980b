#!/usr/bin/env python3
"""tests/ctest.sh on small sets of tests: the last lines name what was repeated and say what
passed and what failed; the exit status is CTest's; each attempt's output is shown."""

import os
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "ctest.sh")

# Of CTest's summary.
PASSED = "100% tests passed, 0 tests failed out of "
REPEATED = "Repeated, since the first attempt failed: "

ONCE = "[ -e $0 ] || {{ touch $0; echo the first attempt of $0; {}; }}"

# Each with what sh runs, its own name being $0.
TESTS = {
    "good": "echo fine",
    "failing": ONCE.format("exit 1"),
    "killed": ONCE.format("kill -KILL $$"),
    "late": ONCE.format("sleep 30"),
    # Its output isn't to be taken for CTest's.
    "bad": f"echo 'Test Passed.'; echo '{PASSED}1'; printf 'without line end'; exit 1",
    "skipped": "exit 77",
    # As a variant's test does, after much other output.
    "outer": "seq 10000; ctest --test-dir inner --repeat until-pass:2",
}


def write_tests(folder, names):
    os.mkdir(folder)
    with open(os.path.join(folder, "CTestTestfile.cmake"), "w",
              encoding="utf-8") as file:
        for name in names:
            file.write(f'add_test({name} sh "-c" [==[{TESTS[name]}]==] {name})\n'
                       f"set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77"
                       f" TIMEOUT {1 if name == 'late' else 30})\n")


class Repeats(unittest.TestCase):
    def ctest(self, *names, status=0, inner=()):
        """The lines that the script prints about these tests."""
        with tempfile.TemporaryDirectory() as folder:
            build = os.path.join(folder, "build")
            write_tests(build, names)
            write_tests(os.path.join(build, "inner"), inner)
            done = subprocess.run(["sh", SCRIPT, build], check=False, timeout=60,
                                  capture_output=True, text=True)
        # Not as it is, since the lines would be taken for those of the outer CTest.
        said = "".join(f"| {line}\n" for line in done.stdout.splitlines())
        self.assertEqual(done.returncode, status, said + done.stderr)
        return done.stdout.splitlines()

    def test_nothing_repeated(self):
        lines = self.ctest("good", "skipped")
        self.assertEqual(lines[-2:], ["", PASSED + "2"])

    def test_repeated(self):
        lines = self.ctest("good", "failing", "killed", "late", "skipped")
        self.assertEqual(lines[-5], "")
        self.assertEqual(sorted(lines[-4:-1]), [REPEATED + "failing", REPEATED + "killed",
                                                REPEATED + "late"])
        self.assertEqual(lines[-1], PASSED + "5")
        for name in ("failing", "killed", "late"):
            self.assertEqual(lines.count("the first attempt of " + name), 1)

    def test_failed(self):
        lines = self.ctest("good", "failing", "bad", status=8)
        self.assertEqual(lines[-2], REPEATED + "failing")
        self.assertRegex(lines[-1], "^67% tests passed, 1 tests? failed out of 3$")
        self.assertIn("\t  3 - bad (Failed)", lines)
        self.assertEqual(lines.count("without line end"), 2)

    def test_tests_of_a_test(self):
        lines = self.ctest("outer", inner=("good", "failing"))
        self.assertEqual(lines[-3:], ["", REPEATED + "failing of outer", PASSED + "1"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
