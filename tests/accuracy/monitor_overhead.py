"""Does monitor_overhead find what a monitor adds, and is what ours adds little?

First with wrappers in the monitor's place that add a known time to each call while a snapshot is
active: that is how much more a row must find in it than outside of it, within 3 % or half a reading
of the clock a call, since by readings it is known. Wrappers that only call must add at most that
half a reading a call.

Then with the monitor. Such a reading, timed beside it, is the measure of what is little there, too:
a call may take half of one while the monitor is off, for then it has nothing to time; a
non-blocking message and its wait take ten with everything on.
"""

import re

import pytest

from mpi_run import number, read_tsv, run_raw

KNOWN_TARGET = 0.03
CALL_READINGS, MESSAGE_READINGS = 0.5, 10.0
MESSAGES = ("MPI_Isend MPI_Wait", "MPI_Irecv MPI_Wait", "MPI_Start MPI_Wait")


def calls_in(row):
    """How many calls a repetition makes: "8 MPI_Irecv 8 MPI_Isend MPI_Waitall" is 17."""
    return sum(int(times or 1) for times in re.findall(r"(?:(\d+) )?MPI_", row["call"]))


@pytest.fixture
def launch(launcher, built):
    """The rows, and what stands on stderr."""
    def start(program, environment=None):
        done = run_raw(launcher, 1, [built(program), "--max-time=0.2"], environment)
        assert done.returncode == 0, done.stderr
        return read_tsv(done.stdout), done.stderr
    return start


@pytest.fixture
def known(launch):
    """The rows; how much longer wrappers took in those of mode "on" than in those of mode "off",
    and a reading of the clock, in ns."""
    def start(about_ns):
        rows, said = launch("tests/accuracy/monitor_overhead_known", {"KNOWN_NS": about_ns})
        times = re.search(r"known: (\S+) ns, reading: (\S+) ns", said)
        return rows, float(times.group(1)), float(times.group(2))
    return start


def test_wrappers_that_only_call(accuracy, known):
    def errors():
        rows, _, reading_ns = known(0)
        return {f"{row['call']} {row['mode']}": number(row["added_ns"]) /
                                                (calls_in(row) * CALL_READINGS * reading_ns)
                for row in rows}

    accuracy.check("nothing", errors, 1, launches=1, text="{:.2f} of what is allowed")


@pytest.mark.parametrize("about_ns", [50, 500])
def test_known_time(about_ns, accuracy, known):
    calls = {}

    def errors():
        rows, known_ns, reading_ns = known(about_ns)
        calls.update((row["call"], calls_in(row)) for row in rows)
        return {"reading": reading_ns,
                **{off["call"]: number(on["added_ns"]) - number(off["added_ns"]) -
                                calls[off["call"]] * known_ns
                   for off, on in zip(rows[::2], rows[1::2])}}

    accuracy.check(f"{about_ns} ns a call", errors, text="{:+.1f} ns", allowed=lambda ns: {
        name: times * max(KNOWN_TARGET * about_ns, CALL_READINGS * ns["reading"])
        for name, times in calls.items()})


def test_monitor(accuracy, launch, known, say):
    def shares():
        """Of what is allowed; less than nothing is no error."""
        _, _, reading_ns = known(0)
        found = {}
        for row in launch("monitor/monitor_overhead")[0]:
            added_ns, bound_ns = number(row["added_ns"]), None
            if row["mode"] == "off":
                bound_ns = CALL_READINGS * reading_ns * calls_in(row)
            elif row["call"] in MESSAGES:
                bound_ns = MESSAGE_READINGS * reading_ns
            say(f"{row['call']:36s} {row['mode']:4s} {added_ns:7.1f} ns"
                f"{'' if bound_ns is None else f' of {bound_ns:.1f}'}")
            if bound_ns is not None:
                found[f"{row['call']} {row['mode']}"] = max(added_ns / bound_ns, 0.0)
        return found

    accuracy.check("the monitor", shares, 1, launches=1, text="{:.2f} of what is allowed")
