"""For the files that test one program, which they name by PROGRAM."""

import functools

import pytest


@pytest.fixture
def own(request, start):
    """Starts the file's program with options and environment variables; see `start`."""
    return functools.partial(start, request.module.PROGRAM)


@pytest.fixture
def own_rows(request, rows_of):
    """The rows of a run of the file's program."""
    return functools.partial(rows_of, request.module.PROGRAM)
