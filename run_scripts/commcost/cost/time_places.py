# SPDX-License-Identifier: BSD-3-Clause
"""Source lines and ranks at which an account's time in MPI was spent, from a report with call sites and peers."""

from commcost.cost import call_ways
from commcost.cost.line_times import line_times
from commcost.cost.peer_waits import heaviest_pairs, peer_waits
from commcost.result.call_sites import CallSites
from commcost.words import short

US = 1e-6


class TimePlaces:
    """Lines and ranks of an Account.

    by_line    line_times.LineTimes, if the report has call sites
    waits      peer_waits.PeerWaits, if the report has peers
    remarks    modules whose lines are unknown
    """

    def __init__(self, account):
        run = account.run
        sites = CallSites(run.sites, run.metadata.get("date", [""])[0])
        self._run, self._spent, self.remarks = run, account.spent, sites.remarks
        self.by_line = line_times(run.sites, sites)
        self.waits = peer_waits(run.pairs, account.lines)

    def lines_of(self, function):
        """Returns the LineTimes of a function's calls."""
        return [line for line in self.by_line if line.function == function]

    def pairs_of(self, function):
        return heaviest_pairs(self._run.pairs, function)

    def note_on(self, line):
        """Returns who is most on a line, and for whom: the rank that is last most often in a collective, or the peer
        that the slowest rank waits for most in all of its receives."""
        last = [calls.last for calls in self._run.by_function if calls.function == line.function and calls.last]
        if line.waited_s and last:
            rank, share = max(last, key=lambda pair: pair[1])
            return f"for rank {rank}, last in {100 * share:.0f} %"
        if line.slowest is None:
            return ""
        rank = line.slowest[1]
        waits = [wait for wait in self.waits if wait.rank == rank] if is_receiving(line.function) else []
        if not waits:
            return f"rank {rank} most"
        late_us = waits[0].late_us
        late = f"{time_text(waits[0].each_us)} each" if late_us is None else f"{time_text(late_us)} late"
        return f"rank {rank} for rank {waits[0].peer}: {late}"

    def moved_s(self):
        """Returns the seconds of waiting per rank that less work on late ranks saves at most, and those that it moves to
        other calls. None if one is unknown."""
        imbalance = [spent.seconds.value for spent in self._spent if spent.what == "Load imbalance"]
        if self._run.least is None or any(wait.late_us is None for wait in self.waits):
            return None
        waited_s = sum(wait.late_us * wait.messages * US for wait in self.waits) / self._run.ranks + sum(
            spent.seconds.value for spent in self._spent if spent.what == "Waiting for late ranks")
        if not waited_s:
            return None
        saved_s = min(waited_s, sum(imbalance))
        return saved_s, waited_s - saved_s


def is_receiving(function):
    """True if calls of a function may wait for a message."""
    return not call_ways.is_started(function) and any(
        word in function for word in ("recv", "Recv", "Probe", "MPI_Wait", "MPI_Test"))


def time_text(us):
    return f"{short(us)} µs" if us < 1000 else f"{short(us / 1000)} ms" if us < 1e6 else f"{short(us * US)} s"
