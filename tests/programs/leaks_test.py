"""No benchmark leaves a handle of MPI behind: with a preloaded library that counts what is made and
freed."""

import os
import pathlib
import re
import tempfile

from case import Case, each
from mpi_run import OPERATIONS, Failed, read, read_tsv, run_raw

KINDS = ["communicator", "datatype", "error handler", "group", "info", "request", "window"]

# Names of MPI functions that make handles, and those of like names that don't.
MAKERS = (r"\bP?MPI_(\w+_(?:create|dup|idup|open|spawn|accept|connect|join|keyval|errhandler)\w*"
          r"|Alloc_mem|Improbe|Mprobe|Grequest_start|\w+_get_(?:info|group)|(?:Type|Group|Op|Info)_\w+)\(")
MAKE_NOTHING = (r"T_\w+|Dims_create|(Comm|Win)_(set|call)_errhandler|Group_translate_ranks"
                r"|Info_get_string|Type_(commit|\w*extent(_x)?|size(_x)?)")


class LeaksCase(Case):
    def counted(self, ranks, program, environment=None, expect=(0,), preloaded=()):
        """Runs a program with the library; the finished process, and of each rank what there was:
        {kind: row}."""
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report")
            libraries = " ".join([self.built("tests/programs/libleaks.so"), *preloaded])
            done = run_raw(self.launcher, ranks, program, {
                "LD_PRELOAD": libraries, "LEAKS_REPORT": report, **(environment or {})})
            if done.returncode not in expect:
                raise Failed(f"{' '.join(done.args)}: exit status {done.returncode}\n"
                             f"{done.stdout[-1000:]}\n{done.stderr[-3000:]}")
            return done, [{row["kind"]: {key: int(row[key]) for key in row if key != "kind"}
                           for row in read_tsv(read(f"{report}.{rank}"))}
                          for rank in range(ranks)]


class Kinds(LeaksCase):
    """The library itself: one of each kind left, and none."""

    def setUp(self):
        super().setUp()
        self.leaves = self.built("tests/programs/leaves")

    @each("case, kind, maker", [
        ("communicator", "communicator", "Comm_split_type"), ("datatype", "datatype", "Type_vector"),
        ("error handler", "error handler", "Comm_get_errhandler"),
        ("group", "group", "Comm_group"), ("info", "info", "Comm_get_info"), ("request", "request", "Ibarrier"),
        ("persistent request", "request", "Recv_init"), ("window", "window", "Win_allocate")])
    def test_each(self, case, kind, maker):
        """One of two is freed, then both."""
        done, counts = self.counted(1, [self.leaves, case], expect=(1,))
        assert {name: counts[0][name]["left"] for name in KINDS} == {**dict.fromkeys(KINDS, 0), kind: 1}
        assert (f"leaks: rank 0: 1 {kind} left, made by MPI_{maker}, called from {self.leaves} +0x" in
                done.stderr)
        done, counts = self.counted(1, [self.leaves, case, "free"])
        assert counts[0][kind]["made"] >= 2
        assert [counts[0][name]["left"] for name in KINDS] == [0] * len(KINDS)
        assert "leaks:" not in done.stderr

    def test_unknown(self):
        """What was made by none of the functions in the table, and freed, is no secret."""
        done, counts = self.counted(1, [self.leaves, "unknown", "free"], expect=(1,))
        assert counts[0]["datatype"]["unknown"] == 2
        assert "datatype unknown, freed by MPI_Type_free" in done.stderr


class Sources(Case):
    def test_table(self):
        """It has all functions by which the project's own sources make handles."""
        table = "".join(read(os.path.join(self.source, name))
                        for name in ("tests/programs/handles.def", "monitor/lib/count/functions.def"))
        for path in pathlib.Path(self.source).glob("[!tb]*/**/*.c"):
            called = re.findall(MAKERS, re.sub("(?m)^INTERPOSED.*", "", path.read_text()))
            unknown = {name for name in called if not re.fullmatch(MAKE_NOTHING, name)}
            assert {name for name in unknown if not re.search(rf"[( ]{name},", table)} == set(), path


class Benchmarks(LeaksCase):
    """Each with all that it has, small."""

    def check(self, program, *options, ranks=2, **how):
        """A run that leaves nothing; what there was of each rank."""
        done, counts = self.counted(ranks, [self.built(program), *options], **how)
        assert "leaks:" not in done.stderr, done.args
        for of_rank in counts:
            assert of_rank.keys() == set(KINDS)
            assert {kind: row for kind, row in of_rank.items()
                    if row["left"] or row["unknown"]} == {}, done.args
        return counts

    def test_overlap(self):
        found = {entry.name[len("overlap_"):] for entry in os.scandir(os.path.join(self.build, "overlap"))
                 if entry.name.startswith("overlap_") and entry.is_file() and
                 os.access(entry.path, os.X_OK)}
        assert found - {"partitioned"} == set(OPERATIONS)
        for name in sorted(found):
            # Exit status 1: MPICH 4.0.2's neighbor_alltoallw.
            halo = name == "halo"
            counts = self.check("overlap/overlap_" + name, "--max-num-elts=64", "--cutoff-time=0.01",
                                *(["--local=3"] if halo else []), "--max-time=0.01", "--check",
                                expect=(0, 1) if halo else (0,))
            assert sum(of_rank["request"]["made"] for of_rank in counts) > 5, name

    def test_mpi_overhead(self):
        self.check("mpi_overhead/mpi_overhead", "--both", "--all-pairs", "--msgsize=0,64K",
                   "--max-time=0.02", "--check")

    def test_msgrate(self):
        short = ("-p", "1", "-c", "64K", "--size=0,1K", "--max-time=0.02")
        self.check("msgrate/msgrate", *short, "--check")
        for transfer in ("put", "get"):
            for more in ("--check", "--threads=2"):
                counts = self.check("msgrate/msgrate_rma", *short, "--transfer=" + transfer, more)
                assert counts[0]["window"]["made"] >= 2
                assert counts[0]["group"]["made"] >= 2

    def test_pingpong(self):
        counts = self.check("pingpong/pingpong", "--max-ndata=8", "--max-stride=2", "--max-time=0.002",
                            "--check")
        assert counts[0]["datatype"]["made"] > 0

    def test_syncbench(self):
        self.check("syncbench/syncbench", "--max-time=0.01", "--check")

    def test_halo(self):
        # Exit status 1: MPICH 4.0.2's neighbor_alltoallw.
        counts = self.check("halo/halo", "--local=2", "--max-time=0.01", "--check", expect=(0, 1))
        assert counts[0]["window"]["made"] >= 3

    def test_noise(self):
        self.check("noise/noise", "--samples=5000", "--visits=2", "--per=rank")

    def test_collective(self):
        self.check("collective/collective", "--sizes=8,4K", "--in-place", "--root=rotate", "--max-time=0.005", "--check")

    def test_linkmap(self):
        self.check("linkmap/linkmap", "--sizes=8,4K", "--pairs=all", "--max-time=0.02", "--check")

    def test_leaving_early(self):
        self.check("halo/halo", "--local=0", expect=(2,))
        self.check("msgrate/msgrate_rma", "-p", "7", expect=(2,))

    def test_monitor(self):
        """The monitor's own handles are made and freed under MPI's other names, PMPI_."""
        self.check("monitor/monitor_overhead", "--max-time=0.002", ranks=1)
        asked = {"MPIRT_MONITOR": "pttopt,coll,comm,msgsize,traffic,other"}
        for program in (("halo/halo", "--local=2", "--max-time=0.01"), ("tests/monitor/stencil",)):
            self.check(*program, environment=asked, preloaded=[self.built("monitor/libmpirtmon.so")])
