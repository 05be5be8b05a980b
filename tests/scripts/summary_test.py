# SPDX-License-Identifier: BSD-3-Clause
"""tests/ctest.sh on small sets of tests: the last lines name what failed and what was not judged, and count; the exit
status is CTest's; each test is run once, and its output is shown where it failed."""

import os

from case import Case, call

# Of CTest's summary.
PASSED = "100% tests passed, 0 tests failed out of "

# Each with what sh runs, its own name being $0.
TESTS = {
    "good": "echo fine",
    "once": "[ -e $0 ] || { touch $0; echo the first attempt of $0; exit 1; }",
    "killed": "kill -KILL $$",
    "late": "sleep 30",
    # Its output isn't to be taken for CTest's.
    "bad": "echo 'Test Passed.'; echo '{}1'; echo '  1 - good (Skipped)'; printf 'without line end'; exit 1".format(PASSED),
    "skipped": "echo 'skipped: needs root'; echo 'OK (skipped=1)'; exit 77",
    "noisy": "echo 'not judged: ±3 µs after 20 s'; exit 77",
    "silent": "echo 'no wire'; echo; exit 77",
}


class Summary(Case):
    def lines(self, *names, status=0):
        """The lines that the script prints about these tests."""
        build = self.folder / "build"
        build.mkdir(exist_ok=True)
        (build / "CTestTestfile.cmake").write_text("".join(
            'add_test({0} sh "-c" [==[{1}]==] {0})\n'
            "set_tests_properties({0} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT {2})\n".format(
                name, TESTS[name], 1 if name == "late" else 300) for name in names), encoding="utf-8")
        done = call(["sh", os.path.join(self.source, "tests/ctest.sh"), build], encoding="utf-8")
        # Not as it is, since the lines would be taken for those of the outer CTest.
        said = "".join("| {}\n".format(line) for line in done.stdout.splitlines())
        assert done.returncode == status, said + done.stderr
        return done.stdout.splitlines()

    def test_passed(self):
        assert self.lines("good")[-3:] == ["", PASSED + "1", "1 passed, 0 failed, 0 skipped"]

    def test_not_judged(self):
        """With the reason, of each of its lines that begins with that word, or the last line."""
        assert self.lines("good", "skipped", "noisy", "silent")[-6:] == [
            "", "not judged: skipped: needs root", "not judged: noisy: ±3 µs after 20 s", "not judged: silent: no wire",
            PASSED + "4", "1 passed, 0 failed, 3 skipped"]

    def test_failed(self):
        lines = self.lines("good", "once", "killed", "late", "bad", "skipped", status=8)
        assert lines[-8:] == [
            "", "failed: once", "failed: killed", "failed: late", "failed: bad", "not judged: skipped: needs root",
            "33% tests passed, 4 tests failed out of 6", "1 passed, 4 failed, 1 skipped"], lines[-8:]
        assert lines.count("the first attempt of once") == 1
        assert lines.count("without line end") == 1

    def test_virtual_results(self):
        """Of a run that has written them."""
        TESTS["virtual"] = "mkdir -p tests/virtual; echo 0123abcd >tests/virtual/results.sha256"
        assert self.lines("virtual")[-3] == "virtual results: sha256 0123abcd"
        assert not any("sha256" in line for line in self.lines("good"))
