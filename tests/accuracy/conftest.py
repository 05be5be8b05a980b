"""What the accuracy tests share."""

import pytest

from accuracy import Accuracy
from mpi_run import run_on_model, run_raw


@pytest.fixture(scope="module")
def accuracy(request, bounds, say, full):
    """Measures the file's cases. At their end it says the largest error, and the file's TARGET if
    it has one."""
    runner = Accuracy(bounds, say, getattr(request.module, "TARGET", None), thorough=full)
    yield runner
    runner.end()


@pytest.fixture(scope="session")
def on_model(launcher, model, built, bounds):
    """Runs a program on two ranks of the model MPI, with options and the model's variables.
    Returns its rows, and those in which the model states the truth."""
    def run(program, *options, **variables):
        _, rows, truths = run_on_model(launcher, 2, [built(program), *options], variables, model)
        return bounds.note(rows), truths
    return run


@pytest.fixture
def late_barrier(launcher, built, tmp_path):
    """Runs overlap_ibarrier where rank 1 leaves barriers `late_us` after rank 0, and the operation
    takes `operation_us` from the first start to the last end. Returns what it prints."""
    shared = tmp_path / "late_shared"

    def run(late_us, operation_us, *options):
        shared.write_bytes(bytes(4096))
        done = run_raw(launcher, 2,
                       [built("overlap/overlap_ibarrier"), "--max-time=0.2", *options],
                       {"LD_PRELOAD": built("tests/accuracy/liblate_barrier.so"), "LATE_US": late_us,
                        "OPERATION_US": operation_us, "LATE_SHARED": shared})
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run
