"""What the accuracy tests share."""

import pytest

from accuracy import Accuracy
from mpi_run import run_on_model


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
