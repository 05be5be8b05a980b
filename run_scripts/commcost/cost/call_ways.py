"""Which rows of results tell the cost of a call."""

import re
import typing

from commcost.suite.suite_plan import collectives


class Way(typing.NamedTuple):
    """Which rows of the overlap programs: the operation, its form, and the column."""

    operation: str
    column: str
    form: str = "nonblocking"


# How a blocking call is measured alone, which counts before the overlap programs' blocking_us.
BLOCKING = "blocking"
# The rows of syncbench that measure blocking calls without data.
SYNCS = {"ibarrier": "MPI barrier", "fence": "fence", "iallreduce": "allreduce 0 bytes"}
SYNC = "sync_us"
# One more exchange of messages where others are under way at the same time: msgrate's with warm caches, of which a
# process sends and receives as many.
GAP = Way("msgrate", "")
# Messages are measured by pairs of processes, whatever their number.
OF_PAIRS = ("isend", "irecv", "sendrecv", "put", "get", GAP.operation)
_MESSAGES = {f"MPI_{name}": operation for operation, names in (
    ("isend", "Send Ssend Rsend Isend Issend Irsend Send_init Ssend_init Rsend_init"),
    ("irecv", "Recv Irecv Recv_init"), ("sendrecv", "Sendrecv"), ("put", "Put Rput"), ("get", "Get Rget"))
             for name in names.split()}


def is_started(function):
    """Whether another call completes what the function starts."""
    return re.match("MPI_(I[a-z]|R(put|get)$|.*_init$)", function) is not None


def operation_of(function):
    """The overlap programs' name of what a function does: iallreduce of MPI_Allreduce; None if none
    of them measures it."""
    name = "i" + re.sub("^MPI_I?|_init$", "", function).lower()
    return _MESSAGES.get(function) or (name if name in collectives() else None)


def way_of(function):
    """The Way that has what a call of the function, and what completes it, costs; None: no benchmark measures it."""
    operation = operation_of(function)
    if function == "MPI_Win_fence":
        return Way("fence", "blocking_us")
    if operation is None:
        return None
    is_persistent = function.endswith("_init") and operation not in OF_PAIRS
    return Way(operation, "ref_us" if is_started(function) else "blocking_us",
               "persistent" if is_persistent else "nonblocking")


def is_sync(way, size):
    """True if syncbench measures it."""
    return way.column == "blocking_us" and way.operation in SYNCS and size == 0


def sources_of(way, size):
    """The Ways that tell the cost of a way, the best first: collective's rows have nothing but the operation."""
    if way.column != "blocking_us":
        return (way,)
    return (Way(way.operation, "time_us", BLOCKING), *([Way(way.operation, SYNC)] if is_sync(way, size) else []), way)
