"""Operations of the device matrix. A new operation is a row of OPERATIONS."""

import os
import re
import typing

from commcost.suite import suite_plan


class Operation(typing.NamedTuple):
    """An operation, and the program that tries it."""

    name: str     # in the matrix
    program: str  # below the build folder
    options: str  # with the size as {doubles}, {twice} their number, the {edge} of a face of that size, or {bytes}
    column: str   # of its time in µs, if it has one


COMMON = "--check --max-time=0.5"
PINGPONG = "--arrangements=single --coarray-sync=all --patterns="
SIZES = " --min-ndata={doubles} --max-ndata={doubles}"
STRIDED = " --max-stride=2 --max-ndata={twice}"  # every other double
HALO = "--local=2x{edge}x{edge} --methods="
OVERLAP = "--no-blocking --sizes={bytes} "
IN_PLACE = ("allgather", "allreduce", "alltoall")  # those that are tried in place, too


def collectives():
    """Yields the calls of each collective: MPI_Allreduce and MPI_Iallreduce for iallreduce."""
    for name in suite_plan.collectives():
        blocking = name[1:]
        if blocking == "barrier":
            continue
        for place, option in (("", ""), (" in place", " --in-place"))[:1 + (blocking in IN_PLACE)]:
            yield Operation(f"MPI_{blocking.capitalize()}{place}", "collective/collective",
                            f"--operations={blocking} --sizes={{bytes}}{option}", "time_us")
        yield Operation(f"MPI_{name.capitalize()}", f"overlap/overlap_{name}", OVERLAP, "ref_us")


OPERATIONS = (
    *(Operation(name, "pingpong/pingpong", PINGPONG + pattern, "latency_us") for name, pattern in (
        ("MPI_Send", "MPISend" + SIZES), ("MPI_Put", "put" + SIZES), ("MPI_Get", "get" + SIZES),
        ("MPI_Put strided", "stridedput" + STRIDED), ("MPI_Get strided", "stridedget" + STRIDED))),
    *(Operation(name, f"overlap/overlap_{program}", OVERLAP + more, "ref_us")
      for name, program, more in (
          ("MPI_Isend", "isend", ""), ("MPI_Irecv", "irecv", ""), ("MPI_Rput", "put", ""), ("MPI_Rget", "get", ""),
          ("MPI_Psend_init", "partitioned", "--partitions=1"))),
    Operation("message rate", "msgrate/msgrate", "-p 1 -m 4 -c 0 -s {bytes}", "iter_us"),
    Operation("host overhead", "mpi_overhead/mpi_overhead", "-m {bytes}", "overhead"),
    *(Operation(name, "halo/halo", HALO + method, "latency_us") for name, method in (
        ("halo packed", "isend/irecvpacked"), ("halo datatypes", "isend/irecvtypes"))),
    *collectives())


class Trial(typing.NamedTuple):
    """An operation with buffers of a kind and of a size."""

    operation: Operation
    memory: str
    size: int  # in bytes

    @property
    def name(self):
        """Returns the name of its files."""
        return re.sub("[^A-Za-z_]+", "_", f"{self.operation.name} {self.memory} ") + str(self.size)

    def line(self, build, launch):
        """Returns the words of its launch, after those of the launcher."""
        options = f"{self.operation.options} {COMMON}".format(
            doubles=self.size // 8, twice=self.size // 4, edge=round((self.size / 8) ** 0.5), bytes=self.size)
        return [*launch, os.path.join(build, self.operation.program), f"--memory={self.memory}", *options.split()]


def can_have(operation, memory):
    """True if the operation takes such buffers: in place it has one buffer, not a pair of kinds."""
    return "--in-place" not in operation.options or len(set(memory.split(":"))) == 1
