# SPDX-License-Identifier: BSD-3-Clause
"""The monitor from the outside: programs that know nothing of it.

The counts of the programs stencil.c and ring.f90 are known, so their reports are checked number by
number; times only for being there and consistent.
"""

import os
import re
import resource
import subprocess

from case import Case, each, within
from mpi_run import call, number, read, read_if_there, read_tsv

COLUMNS = """kind comm operation ranks calls completed timeouts total_s mean_us max_us max_rank
    bytes small large small_per_s large_per_s small_bytes large_bytes members rank slowest_s
    slowest_rank in_calls_s computed_s size_bytes waited_s waited_lo_s
    waited_hi_s last_calls last_rank callers computed_after_s joinable
    neighbours least_waited_s in_waits_s waited_files_s parallel_eff_pct load_balance_pct
    communication_eff_pct serialisation_eff_pct transfer_eff_pct""".split()
STEPS = 30
DETAILED = "all,site,peers,depth"
STENCIL = ["tests/monitor/stencil", 200, STEPS]
SMALL_STENCIL = ["tests/monitor/stencil", 50, 1]
RING = "tests/monitor/ring"
ABI = "the MPI standard's ABI, version {}"


def counts_of(rows, kind, comm="grid"):
    """Calls, completed and bytes by operation, of all ranks together."""
    return {row["operation"]: tuple(int(row[key]) for key in ("calls", "completed", "bytes"))
            for row in rows if row["kind"] == kind and row["comm"] == comm and row["rank"] == "NA"}


class MonitorCase(Case):
    def setUp(self):
        super().setUp()
        self.monitor = self.built("monitor/libmpirtmon.so")

    @property
    def built_for(self):
        """The monitor's name of the library that it was built for."""
        cache = read(os.path.join(self.build, "CMakeCache.txt"))
        if "COMMCOST_MPI_ABI:INTERNAL=1" in cache.splitlines():
            return ABI.format(1)
        return "Open MPI" if self.launcher.is_openmpi else "MPICH"

    def under_monitor(self, program, words=None, ranks=2, beside=()):
        """Starts a program of the build, given with its arguments, under the monitor. `words` are the
        words of MPIRT_MONITOR; without them it is unset. `beside` is loaded, too."""
        environment = {} if words is None else {"MPIRT_MONITOR": words}
        return self.start(*program, ranks=ranks, LD_PRELOAD=":".join([self.monitor, *beside]), **environment)

    def monitored(self, words, program, ranks=2, beside=()):
        """The finished process, and its report as text."""
        path = self.folder / "report.tsv"
        if path.exists():
            path.unlink()
        done = self.under_monitor(program, f"{words},output={path}", ranks, beside)
        return done, read_if_there(path)


class Stencil(MonitorCase):
    """A stencil of 200 x 100 points on two ranks, 30 steps."""

    def report(self, words, ranks=2):
        """The monitor's report of it, as text."""
        done, report = self.monitored(words, STENCIL, ranks)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "after 30 steps the largest change is 0.808221\n"
        return report

    def test_counts(self):
        rows = read_tsv(self.report("all"))
        assert list(rows[0]) == COLUMNS
        # Two ranks, one above the other: each has one neighbour in four.
        edge = 200 * 8 * 2 * STEPS
        calls = 2 * 4 * STEPS
        assert counts_of(rows, "pttopt") == {
            "MPI_Isend": (calls, calls, edge), "MPI_Irecv": (calls, calls, edge)}
        assert counts_of(rows, "coll") == {
            "MPI_Allreduce": (6, 6, 6 * 8), "MPI_Comm_free": (2, 2, 0)}
        assert counts_of(rows, "coll", "MPI_COMM_WORLD") == {"MPI_Cart_create": (2, 2, 0)}
        assert counts_of(rows, "comm") == {
            "point-to-point": (2 * calls, 2 * calls, 2 * edge), "collective": (8, 8, 48),
            "all": (2 * calls + 8, 2 * calls + 8, 2 * edge + 48)}
        load, = (row for row in rows if row["kind"] == "workload")
        assert (load["small"], load["large"], load["small_bytes"]) == (
            str(2 * STEPS), "0", str(edge))
        grid = [row for row in rows if row["comm"] == "grid"]
        assert {row["ranks"] for row in grid} == {"2"}
        assert {row["members"] for row in grid} == {"0-1"}

    def test_ranks(self):
        """The rows of each rank add up to those of all, on three."""
        rows = read_tsv(self.report("all,per-rank", ranks=3))
        together = {(row["kind"], row["comm"], row["operation"]): row
                    for row in rows if row["rank"] == "NA"}
        for key, row in together.items():
            if key[0] not in ("pttopt", "coll"):
                continue
            own = [other for other in rows if other["rank"] != "NA" and
                   (other["kind"], other["comm"], other["operation"]) == key]
            assert [other["rank"] for other in own] == ["0", "1", "2"]
            for column in ("calls", "completed", "timeouts", "bytes"):
                assert int(row[column]) == sum(int(other[column]) for other in own)
            for column, greatest, rank in (("max_us", "max_us", "max_rank"),
                                           ("total_s", "slowest_s", "slowest_rank")):
                values = [number(other[column]) for other in own]
                assert number(row[greatest]) == max(values) == values[int(row[rank])]
            total_s = sum(number(other["total_s"]) for other in own)
            assert number(row["total_s"]) == within(total_s, 2e-8)

    def test_services(self):
        """A process that computes, against the system's counts of it."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done, report = self.monitored("other", ["tests/monitor/stencil", 1500, 150], 1)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0
        rows = {row["operation"]: row for row in read_tsv(report)}
        user_s = after.ru_utime - before.ru_utime
        assert number(rows["user_time"]["total_s"]) <= user_s + 0.01
        system_s = after.ru_stime - before.ru_stime
        assert number(rows["system_time"]["total_s"]) <= system_s + 0.01
        # Without the start and the end of MPI.
        assert number(rows["user_time"]["total_s"]) > 0.7 * user_s
        assert int(rows["minor_page_faults"]["calls"]) > 5000

    def test_default_output(self):
        done = self.under_monitor(STENCIL, "coll")
        assert done.returncode == 0
        assert counts_of(read_tsv(done.stderr), "coll")["MPI_Allreduce"] == (6, 6, 48)

    def test_loaded_only(self):
        done = self.under_monitor(STENCIL)
        assert (done.returncode, done.stderr) == (0, "")


class Launch(MonitorCase):
    """Faults around a program are reported."""

    def test_abort(self):
        """An aborted program leaves a note that there is no report."""
        done, report = self.monitored("all", ["tests/monitor/monitor_script", "1"])
        assert done.returncode != 0
        assert len(report.splitlines()) == 1
        assert report.startswith("# note: no report"), report

    def test_lost_report(self):
        done = self.under_monitor(SMALL_STENCIL, "all,output=/dev/full")
        assert "mpirtmon: /dev/full: the report could not be written" in done.stderr

    def test_alone(self):
        """Started by another library's mpirun, each process is a job."""
        if self.launcher.is_openmpi:
            self.skipTest("its mpirun sets the variable that counts")
        path = self.folder / "report.tsv"
        done = subprocess.run(
            [self.built(SMALL_STENCIL[0]), "50", "1"], check=False,
            env={**os.environ, "LD_PRELOAD": self.monitor, "OMPI_COMM_WORLD_SIZE": "2",
                 "MPIRT_MONITOR": f"all,output={path}"})
        assert done.returncode == 0
        assert ("# warning: 2 processes were started, but each is a job of its own"
                in path.read_text())

    @each("other, is_for", [
        ("open_mpi", "Open MPI"), ("mpich", "MPICH"), ("abi_0", "Open MPI"), ("abi_1", ABI.format(1)),
        ("abi_2", ABI.format(2))])
    def test_other_library(self, other, is_for):
        """A library that pretends to be another one stands in for the program's."""
        stand_in = self.built(f"tests/programs/libother_{other}.so")
        done = self.under_monitor(SMALL_STENCIL, "all", beside=[stand_in])
        if is_for == self.built_for:
            assert (done.returncode, done.stdout.split()[0]) == (0, "after"), done.stderr
            return
        assert (done.returncode, done.stdout) == (2, "")
        ours = [line for line in done.stderr.splitlines() if line.startswith("mpirtmon:")]
        named = "MPICH Version: 9.9.9" if other == "mpich" else "Open MPI v9.9.9"
        assert ours == [
            f"mpirtmon: this library was built for {self.built_for}, the program for {is_for} "
            f"({named}, not really): use the one that was built for that"]

    @each("other, fits", [
        ("abi_1", True), ("abi_2", False), ("abi_0", False), (None, False)])
    def test_monitor_of_the_abi(self, other, fits):
        """One that was built for the standard's ABI takes a pretended Open MPI library of
        this ABI, and no other."""
        if self.built_for == ABI.format(1):
            self.skipTest("all of these tests are of one")
        report = self.folder / "report.tsv"
        libraries = [self.built("tests/programs/libmpirtmon_abi.so")]
        if other:
            libraries.append(self.built(f"tests/programs/libother_{other}.so"))
        done = self.start(*SMALL_STENCIL, LD_PRELOAD=":".join(libraries),
                          MPIRT_MONITOR=f"all,output={report}")
        assert done.returncode == (0 if fits else 2), done.stderr
        if fits:
            assert "\n# mpi_library: Open MPI v9.9.9, not really\n" in report.read_text()
        else:
            assert f"mpirtmon: this library was built for {ABI.format(1)}, the program" in done.stderr

    def test_library_beside(self):
        """A library of the standard's ABI is in the process, but the program's calls don't reach it."""
        if self.built_for == ABI.format(1):
            self.skipTest("the program's library has this ABI")
        stand_in = self.built("tests/programs/libother_beside.so")
        done = self.under_monitor(SMALL_STENCIL, "all", beside=[stand_in])
        assert (done.returncode, done.stdout.split()[0]) == (0, "after"), done.stderr


class Foreign(MonitorCase):
    """Programs of others, which may do what the monitor doesn't see or has no room for, or load it on some ranks only
    (tests/monitor/foreign.c)."""

    def setUp(self):
        super().setUp()
        self.program = self.built("tests/monitor/foreign")
        self.report = self.folder / "report.tsv"
        self.report.write_text("an old report\n")

    def launch(self, *arguments, words="all", before=(), ranks=2):
        """Runs it in the folder."""
        libraries = ":".join([*before, self.monitor])
        line = self.launcher.line(ranks, {"LD_PRELOAD": libraries, "MPIRT_MONITOR": f"{words},output={self.report}"},
                                  [self.program, *arguments])
        return call(line, cwd=str(self.folder), timeout=120)

    def run_foreign(self, *arguments, **how):
        """The same. Nothing but the report is left in the folder."""
        return self.check_folder(self.launch(*arguments, **how))

    def check_folder(self, done):
        assert os.listdir(self.folder) == ["report.tsv"]
        return done

    @each("variable", ["", "all,site,peers,depth,output={}"])
    def test_some_ranks_have_it(self, variable):
        """Programs of one job, of which one has the monitor, are left alone. It waits for the others for 10 s."""
        for rank in range(2):
            line = [*self.launcher.command]
            for other in range(2):
                line += [":"] * other + ["-np", 1, "env", f"MPIRT_MONITOR={variable.format(self.report)}"]
                line += [f"LD_PRELOAD={self.monitor}"] * (other == rank) + [self.program, "bcast"]
            done = self.check_folder(call(line, cwd=str(self.folder), timeout=120))
            assert (done.returncode, done.stdout) == (0, "right 1\n"), done.stderr
            ours = [line for line in done.stderr.splitlines() if line.startswith("mpirtmon:")]
            if not variable:
                assert ours == []
                assert self.report.read_text() == "an old report\n"
                continue
            assert [line[:71] for line in ours] == [
                f"mpirtmon: nothing is monitored: rank {1 - rank} left no mark in '{self.folder}"[:71]]
            if rank == 0:
                assert self.report.read_text() == "# note: no report: not all ranks have the monitor\n"

    def test_many_communicators(self):
        """The program can take all that MPI has, and there is a report nevertheless."""
        done = self.run_foreign("communicators", 3000)
        assert done.returncode == 0, done.stderr
        alone = self.start("tests/monitor/foreign", "communicators", 3000)
        made, most = (int(one.stdout.split()[1]) for one in (done, alone))
        assert made == most
        rows = read_tsv(self.report.read_text())
        calls = [int(row["calls"]) for row in rows if (row["kind"], row["operation"]) == ("coll", "MPI_Comm_dup")]
        assert calls == [2 * (made + (made < 3000))]

    @each("mode, reason", [
        ("none", "the program has not called MPI_Finalize, or not yet"),
        ("around", "MPI_Init was called around the monitor"),
        ("end_around", "MPI_Finalize was called around the monitor"),
        ("session", "the program used MPI by sessions only (MPI_Session_init), which can't be monitored")])
    def test_old_report(self, mode, reason):
        """It isn't taken for this run's, and the reason is the one that was seen."""
        done = self.run_foreign(mode)
        if "none\n" in done.stdout:
            self.skipTest("this MPI library has no sessions")
        assert self.report.read_text() == f"# note: no report: {reason}\n"
        lines = [line for line in done.stderr.splitlines() if line.startswith("mpirtmon:")]
        assert [line.startswith(f"mpirtmon: nothing was monitored: {reason}") for line in lines] == [True] * (mode != "none")

    def test_fork(self):
        """A child process that ends writes no report, and does not disturb its parent's."""
        done = self.run_foreign("fork", words=DETAILED)
        assert (done.returncode, done.stdout, done.stderr) == (0, "child 0\n", "")
        rows = read_tsv(self.report.read_text())
        assert counts_of(rows, "coll", "MPI_COMM_WORLD") == {"MPI_Barrier": (14, 14, 0)}

    def test_exit(self):
        """There is no report without MPI_Finalize. Open MPI's mpirun calls that an error. One rank, since MPICH's
        mpirun kills the others, which may have ended before."""
        done = self.run_foreign("exit", words=DETAILED, ranks=1)
        assert done.returncode == self.start("tests/monitor/foreign", "exit", ranks=1).returncode
        assert self.report.read_text() == "# note: no report: the program has not called MPI_Finalize, or not yet\n"

    def test_spawn(self):
        """A job that a program starts has a report of its own."""
        done = self.launch("spawn", self.program, words=DETAILED)
        if done.returncode != 0 and self.start("tests/monitor/foreign", "spawn", self.program).returncode != 0:
            self.skipTest("this MPI library can't start processes here")
        assert done.returncode == 0, done.stderr
        own, = self.folder.glob("report.tsv.spawned-*")
        for path, calls in ((self.report, 14), (own, 10)):
            assert counts_of(read_tsv(path.read_text()), "coll", "MPI_COMM_WORLD")["MPI_Barrier"] == (calls, calls, 0)

    def test_switch(self):
        """Both calls of the switch count, and MPI_Comm_rank."""
        assert self.run_foreign("switch", 0).returncode == 0
        others, = (row for row in read_tsv(self.report.read_text()) if row["operation"] == "other MPI")
        assert others["calls"] == "6"

    def test_freed_around(self):
        """A handle that was remembered while the monitor was off isn't used any more."""
        done = self.run_foreign("freed")
        assert done.returncode == 0, done.stderr
        rows = read_tsv(self.report.read_text())
        assert counts_of(rows, "coll", "MPI_COMM_WORLD") == {"MPI_Barrier": (14, 14, 0)}

    def test_alone(self):
        """Waiting is told of communicators whose ranks can be compared; others take no room from these."""
        assert self.run_foreign("alone", 70, words="coll").returncode == 0
        report = self.report.read_text()
        assert "no waiting time" not in report
        waited = [row["waited_s"] for row in read_tsv(report)
                  if (row["comm"], row["operation"]) == ("MPI_COMM_WORLD", "MPI_Barrier")]
        assert len(waited) == 1 and waited[0] != "NA"

    @each("words", ["all", "coll"])
    def test_files(self, words):
        """Calls, completions and bytes of each function, times and waits in their part of the total."""
        assert self.run_foreign("files", 5, words=words).returncode == 0
        rows = read_tsv(self.report.read_text())
        found = counts_of([row for row in rows if row["operation"].startswith("MPI_File")], "calls", "NA")
        once, always = (2, 2, 0), (10, 10, 0)
        assert found == ({} if words == "coll" else {
            "MPI_File_open": once, "MPI_File_close": once, "MPI_File_delete": (1, 1, 0), "MPI_File_sync": always,
            "MPI_File_seek": always, "MPI_File_read_at_all_end": always,
            **dict.fromkeys(("MPI_File_write_at_all", "MPI_File_iwrite_at", "MPI_File_read",
                             "MPI_File_read_at_all_begin"), (10, 10, 10000))})
        for row in rows:
            if row["kind"] == "calls" and row["operation"] in found:
                waits_s = number(row["in_waits_s"])
                assert (waits_s > 0) == (row["operation"] == "MPI_File_iwrite_at"), row
                assert 0 <= waits_s < number(row["in_calls_s"]) <= number(row["total_s"]) + 1e-3, row
        assert not any(row["kind"] == "sizes" and row["operation"] in found for row in rows)

    @each("where", ["world", "self", "dup", "split", "inter"])
    def test_abort(self, where):
        """An error ends the program as it does without the monitor: with the same exit status and error lines, except
        for the numbers of processes and of the communicator, which is the program's own."""
        statuses, errors = [], []
        for words in (None, "", "all"):
            variables = {} if words is None else {"LD_PRELOAD": self.monitor, **(
                {"MPIRT_MONITOR": f"{words},output={self.report}"} if words else {})}
            line = self.launcher.line(2, variables, [self.program, "abort", where])
            for _ in range(5):
                done = call(line, cwd=str(self.folder), timeout=120)
                text, is_whole = done.stdout + done.stderr, re.search("(?i)invalid rank", done.stdout + done.stderr)
                if is_whole:
                    break
            for handle in re.findall(r"handle (-?\d+)", text):
                text = re.sub(rf"comm=0x0*{int(handle) & 0xffffffff:x}\b", "comm=OWN", text)
            statuses.append(done.returncode)
            errors.append(is_whole and {re.sub(r"\b\d{3,}\b", "N", said) for said in text.splitlines() if re.search(
                "(?i)error in|error occurred|on communicator|comm=|invalid rank", said)})
        assert statuses[0] != 0
        assert statuses == 3 * statuses[:1]
        # Open MPI's launcher may end before it has passed all on.
        known = [said for said in errors if said is not None]
        assert len(known) == 3 or self.launcher.is_openmpi or not known, errors
        assert known == len(known) * known[:1]

    def test_null_handles(self):
        """Calls that fail haven't found the monitor without room."""
        done = self.run_foreign("null")
        assert done.stdout == "failed 4\n"
        report = self.report.read_text()
        assert "found no room" not in report
        assert counts_of(read_tsv(report), "coll", "(null handle)") == {
            "MPI_Barrier": (2, 0, 0), "MPI_Win_fence": (2, 0, 0)}

    def test_many_windows(self):
        if self.launcher.is_openmpi:
            self.skipTest("Open MPI itself has no room for these windows")
        self.run_foreign("windows", 900)
        assert ("# warning: 264 windows or persistent requests found no room" in
                self.report.read_text())

    def test_tool_before(self):
        """A tool that comes first may hide calls."""
        done = self.run_foreign("switch", 0, before=[self.built("tests/monitor/libmonitor_layer.so")])
        assert done.returncode == 0, done.stderr
        note = "# note: libmonitor_layer.so comes before the monitor for "
        lines = [line for line in self.report.read_text().splitlines() if line.startswith(note)]
        assert len(lines) == 1 and "such as MPI_" in lines[0]


FROM_FORTRAN = {"pttopt": {"MPI_Sendrecv": (2, 2, 64)}, "coll": {"MPI_Allreduce": (2, 2, 32)}}
FILES = {"MPI_File_open": (2, 2, 0), "MPI_File_close": (2, 2, 0), "MPI_File_delete": (1, 1, 0), "MPI_File_seek": (2, 2, 0),
         **dict.fromkeys(("MPI_File_write_at_all", "MPI_File_iwrite_at", "MPI_File_read"), (2, 2, 32))}


class Fortran(MonitorCase):
    """Programs in Fortran, whose layer of the MPI library calls MPI's C functions or not."""

    def compile(self, name, *words, wrapper="COMMCOST_MPIF90"):
        """Compiles and returns a program of tests/monitor."""
        cache = read(os.path.join(self.build, "CMakeCache.txt"))
        compiler = re.search(f"^{wrapper}:[A-Z]+=(/.*)$", cache, re.MULTILINE)
        if not compiler:
            self.skipTest("no Fortran compiler for this MPI library")
        folder = os.path.join(self.source, "tests/monitor")
        program = str(self.folder / name)
        done = call([compiler.group(1), "-w", "-o", program, *words], cwd=folder)
        assert done.returncode == 0, done.stderr
        return program

    def report_of(self, *program, words="all", ranks=2, beside=()):
        """Runs the program. Returns its report."""
        path = self.folder / "report.tsv"
        line = self.launcher.line(ranks, {"LD_PRELOAD": ":".join([self.monitor, *beside]),
                                          "MPIRT_MONITOR": f"{words},output={path}"}, program)
        done = call(line, cwd=str(self.folder), timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return read(str(path))

    @each("is_opened", [False, True])
    def test_library(self, is_opened):
        """The program is linked with the MPI library's Fortran layer, or opens a library that is. It also calls MPI-IO."""
        if is_opened:
            library = self.compile("libexchange.so", "-shared", "-fPIC", "exchange.f90")
            program = [self.built("tests/monitor/open_exchange"), library]
        else:
            program = [self.compile("exchange", "exchange.f90", "-x", "c", "exchange_main.c")]
        report = self.report_of(*program, words=DETAILED)
        rows = read_tsv(report)
        for kind, expected in FROM_FORTRAN.items():
            assert counts_of(rows, kind, "MPI_COMM_WORLD") == expected
        files = [row for row in rows if row["operation"].startswith("MPI_File")]
        assert counts_of(files, "calls", "NA") == FILES
        modules = {row["site"].split("+")[0] for row in rows if row["kind"] == "site" and row["operation"] in FILES}
        assert modules == {os.path.basename(program[-1])}
        assert "\n# languages: C, Fortran\n" in report
        assert "Fortran calls" not in report

    def test_large_integers(self):
        """Arguments of Fortran calls aren't read as integers of 4 bytes if they have 8."""
        program = self.compile("exchange", "exchange.f90", "-x", "c", "exchange_main.c")
        report = self.report_of(program, beside=[self.built("tests/monitor/liblarge_integers.so")])
        assert "\n# warning: Fortran calls may be missing: INTEGER has 8 bytes in this MPI library\n" in report
        found = counts_of(read_tsv(report), "pttopt", "MPI_COMM_WORLD")
        assert found in ({}, FROM_FORTRAN["pttopt"])

    @each("name", ["mpi_barrier_", "mpi_barrier__", "MPI_BARRIER"])
    def test_one_name(self, name):
        """The layer has the names of one compiler only, whether it is monitored or not."""
        library = self.compile("libone_name.so", "-shared", "-fPIC", "-DLAYER", f"-DNAME={name}", "one_name.c",
                               wrapper="MPI_C_COMPILER")
        program = self.compile("one_name", f"-DNAME={name}", "one_name.c", library, f"-Wl,-rpath,{self.folder}",
                               wrapper="MPI_C_COMPILER")
        report = self.report_of(program, words="coll")
        assert counts_of(read_tsv(report), "coll", "MPI_COMM_WORLD")["MPI_Barrier"] == (6, 6, 0)
        assert "\n# languages: C, Fortran\n" in report
        done = call(self.launcher.line(2, {"LD_PRELOAD": self.monitor}, [program]), timeout=120)
        assert done.returncode == 0, done.stderr

    def test_unknown_layer(self):
        library = self.compile("libmpi_other_usempi.so", "-shared", "-x", "c", os.devnull, wrapper="MPI_C_COMPILER")
        done, report = self.monitored("coll", SMALL_STENCIL, beside=[library])
        assert done.returncode == 0, done.stderr
        line = f"# warning: Fortran calls through {library} may be missing: its names are unknown"
        assert [one for one in report.splitlines() if "Fortran" in one] == [line]

    def test_nested(self):
        """MPI calls a function of the program, which calls the same MPI function: the counts and depths are the same
        whether the outer call comes from C or from Fortran."""
        program = self.compile("nested", "nested.c")
        found = {}
        for language in ("c", "fortran"):
            rows = read_tsv(self.report_of(program, language, words="pttopt,coll,calls,depth", ranks=1))
            found[language] = {(row["kind"], row["comm"], row["operation"]): (row["calls"], row["completed"], row["high"])
                               for row in rows if row["kind"] in ("pttopt", "coll", "calls", "depth")
                               and row["operation"] not in ("libmpirtmon", "other MPI", "unexpected messages")}
        assert found["fortran"] == found["c"]
        assert found["c"]["coll", "MPI_COMM_SELF", "MPI_Comm_dup"][0] == "6"
        highs = {name: high for (kind, _, name), (_, _, high) in found["c"].items() if kind == "depth"}
        assert [highs[name] for name in ("windows", "communicators", "datatypes")] == ["2", "3", "2"], highs

    def test_ring(self):
        if not os.path.exists(os.path.join(self.build, RING)):
            self.skipTest("no Fortran compiler for this MPI library")
        done, report = self.monitored("pttopt,coll", [RING])
        assert (done.returncode, done.stdout.split()[-1]) == (0, "1")
        rows = read_tsv(report)
        assert counts_of(rows, "pttopt", "MPI_COMM_WORLD") == {
            "MPI_Sendrecv": (20, 20, 160), "MPI_Isend": (10, 10, 40), "MPI_Irecv": (10, 10, 40)}
        assert counts_of(rows, "coll", "MPI_COMM_WORLD") == {"MPI_Allreduce": (6, 6, 24)}
        assert "\n# languages: Fortran\n" in report


class Benchmarks(MonitorCase):
    """Every program of the collection runs unchanged under the monitor."""

    def runs(self, *program):
        """It does, and its report can be followed."""
        done, report = self.monitored("all", [*program, "--max-time=0.02", "--check"])
        assert done.returncode == 0, (program, done.stderr)
        assert len(read_tsv(done.stdout)) > 0, program
        rows = read_tsv(report)
        assert rows, program
        assert "their end was not seen" not in report, program
        for row in rows:
            if row["kind"] in ("pttopt", "coll"):
                assert int(row["completed"]) <= int(row["calls"]), row
                assert row["comm"] != "(other communicators)", row

    def test_overlap(self):
        folder = os.path.join(self.build, "overlap")
        for program in sorted(os.listdir(folder)):
            path = os.path.join(folder, program)
            if not (os.path.isfile(path) and os.access(path, os.X_OK)):
                continue
            if program == "overlap_halo":
                self.runs(f"overlap/{program}", "--local=5", "--methods=isend/irecv types,persistent")
            else:
                self.runs(f"overlap/{program}", "--max-num-elts=64")

    @each("program", [
        ["mpi_overhead/mpi_overhead", "--msgsize=8,64K", "--both"],
        ["msgrate/msgrate", "-p", "1"],
        ["msgrate/msgrate_rma", "-p", "1"],
        ["pingpong/pingpong", "--max-ndata=64", "--max-stride=4"],
        ["syncbench/syncbench"],
        ["halo/halo", "--local=5", "--methods=put,get,isend/irecv types,isend/irecv packed,"
                                   "persistent,shared window"]])
    def test_others(self, program):
        self.runs(*program)
