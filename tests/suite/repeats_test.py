"""tests/ctest.sh on small sets of tests: the last lines name what was repeated and say what passed
and what failed; the exit status is CTest's; each attempt's output is shown."""

import os
import re
import subprocess

import pytest

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
    folder.mkdir()
    (folder / "CTestTestfile.cmake").write_text("".join(
        f'add_test({name} sh "-c" [==[{TESTS[name]}]==] {name})\n'
        f"set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77"
        f" TIMEOUT {1 if name == 'late' else 30})\n" for name in names))


@pytest.fixture
def ctest(source, tmp_path):
    """The lines that the script prints about these tests."""
    def lines(*names, status=0, inner=()):
        write_tests(tmp_path / "build", names)
        write_tests(tmp_path / "build/inner", inner)
        done = subprocess.run(["sh", os.path.join(source, "tests/ctest.sh"), tmp_path / "build"],
                              check=False, timeout=60, capture_output=True, text=True)
        # Not as it is, since the lines would be taken for those of the outer CTest.
        said = "".join(f"| {line}\n" for line in done.stdout.splitlines())
        assert done.returncode == status, said + done.stderr
        return done.stdout.splitlines()
    return lines


def test_nothing_repeated(ctest):
    assert ctest("good", "skipped")[-2:] == ["", PASSED + "2"]


def test_repeated(ctest):
    lines = ctest("good", "failing", "killed", "late", "skipped")
    assert lines[-5] == ""
    assert sorted(lines[-4:-1]) == [REPEATED + name for name in ("failing", "killed", "late")]
    assert lines[-1] == PASSED + "5"
    for name in ("failing", "killed", "late"):
        assert lines.count("the first attempt of " + name) == 1


def test_failed(ctest):
    lines = ctest("good", "failing", "bad", status=8)
    assert lines[-2] == REPEATED + "failing"
    assert re.search("^67% tests passed, 1 tests? failed out of 3$", lines[-1])
    assert "\t  3 - bad (Failed)" in lines
    assert lines.count("without line end") == 2


def test_tests_of_a_test(ctest):
    lines = ctest("outer", inner=("good", "failing"))
    assert lines[-3:] == ["", REPEATED + "failing of outer", PASSED + "1"]
