"""Every benchmark with its data checked, built so that more than 1000 elements are beyond what an
int counts: derived datatypes and MPI-4's large counts at sizes that any machine has."""

import re

import pytest

from mpi_run import PAIRS, WITH_ELEMENTS, assert_refused, run, run_raw

# Below the limit, at it, beyond it with and without a rest, and beyond its square.
SIZES = [999, 1000, 1001, 2000, 12345, 1001234]
SIZE_LIST = ",".join(map(str, SIZES))

BY_DATATYPES = ["ialltoall", "ialltoallw", "iallgather", "ibcast", "igather", "iscatter",
                "ineighbor_allgather", "ineighbor_alltoall", *PAIRS]
BY_LARGE_COUNTS = [name for name in WITH_ELEMENTS if name not in BY_DATATYPES]


@pytest.fixture(scope="module")
def program(built):
    """The path of a program of this build."""
    return lambda name: built("tests/end_to_end/few_counts/" + name)


@pytest.fixture(scope="module")
def has_large_counts(launcher, program):
    """Whether the MPI library has MPI-4's functions."""
    done = run_raw(launcher, 2, [program("overlap_ibcast"), "--max-time=0.01"])
    return float(re.search("(?m)^# mpi_standard: (.*)$", done.stdout)[1]) >= 4


@pytest.fixture
def checked(launcher, program):
    """The rows of a run, whose data was right."""
    def of(name, *options, ranks=2):
        _, rows = run(launcher, ranks,
                      [program(name), *options, "--check", "--samples=1", "--warmup=0"])
        for row in rows:
            assert row["status"] in ("ok", "budget", "no-knee"), row
            assert row.get("check", "ok") == "ok", row
        return rows
    return of


@pytest.fixture
def overlap(checked):
    """A run of a collective with numbers of elements from first to last."""
    def of(collective, first, last):
        rows = checked("overlap_" + collective, "--data-driven", f"--min-num-elts={first}",
                       f"--max-num-elts={last}", "--acceptance-threshold=100",
                       "--validation-steps=0")
        assert int(rows[0]["elements"]) == first
        assert int(rows[-1]["elements"]) == last
    return of


@pytest.mark.parametrize("collective", BY_DATATYPES)
def test_overlap_by_datatypes(overlap, collective):
    overlap(collective, 77, 4321)


def test_overlap_beyond_the_square(overlap):
    overlap("ibcast", 1001234, 1001234)


@pytest.mark.parametrize("collective", BY_LARGE_COUNTS)
def test_overlap_by_large_counts(overlap, launcher, program, has_large_counts, collective):
    """Without large counts, the largest power of two that would do is named, and does."""
    if has_large_counts:
        overlap(collective, 77, 4321)
        return
    name = "overlap_" + collective
    done = run_raw(launcher, 2, [program(name), "--max-num-elts=4321"])
    line = assert_refused(done, name, "what this MPI library can count: use at most")
    largest = int(line.split()[-1])
    assert largest in (128, 256, 512)
    overlap(collective, largest, largest)


@pytest.mark.parametrize("collective", ["igatherv", "iscatterv", "iallgatherv"])
def test_displacements_that_are_not_used(checked, collective):
    """All blocks together are just what an int counts. As many of the last rank's own would be
    more, but only collectives that send those need to count them."""
    rows = checked("overlap_" + collective, "--data-driven", "--min-num-elts=240",
                   "--max-num-elts=240", "--max-time=0.1", ranks=4)
    assert rows[0]["elements"] == "240"


def test_messages(checked):
    rows = checked("msgrate", "-p", "1", "-m", "3", "--size=" + SIZE_LIST)
    assert len(rows) == 4 * len(SIZES)
    assert len(checked("mpi_overhead", "--both", "--msgsize=" + SIZE_LIST)) == 2 * len(SIZES)


@pytest.mark.parametrize("transfer", ["put", "get"])
def test_one_sided(checked, transfer):
    checked("msgrate_rma", "-p", "1", "-m", "3", "-u", transfer, "-r", "lock",
            "--size=" + SIZE_LIST)


def test_pingpong(checked):
    checked("pingpong", "--max-ndata=32K", "--max-stride=4K", "--max-blocks=64",
            "--coarray-sync=images", "--arrangements=single")


def test_halo(checked):
    boxes = ["40x30x20", "50x41x3", "3x50x41", "1x1x1234", "1234x3x2", "2x1999x1"]
    # Not neighbor_alltoallw, of which MPICH makes wrong data here.
    rows = checked("halo", "--local=" + ",".join(boxes),
                   "--methods=put,get,isend/irecv types,isend/irecv packed,persistent,"
                   "shared window", "--coarray-sync=images")
    assert len(rows) == 6 * len(boxes)
