# SPDX-License-Identifier: BSD-3-Clause
"""device_matrix.sh on a model of a GPU, under MPI libraries whose faults are known: each is called what it is."""

import csv
import os
import signal
import subprocess
import time
import xml.etree.ElementTree

import rules
import virtual
import launches
from commcost.suite import launch_processes
from commcost.suite import trial_launches

SCRIPT = os.path.join(launches.TOP, "run_scripts/device_matrix.sh")
MODEL = rules.Model(post=0.2, wait=0.3, latency=20, byte_ns=10, sync=0.5, barrier=2)
REACH_US, COPY_US = 4, 9
COSTS = dict(MODEL.variables(), MODEL_DATA=1, MODEL_DEVICE_US=REACH_US, DEVICE_COPY_US=COPY_US,
             DEVICE_COPY_PER_BYTE_NS=0, MODEL_DURATION_US=500, MODEL_BLOCKING_US=500)

HANG = "sleep {}".format(10 ** 9 + os.getpid())  # the same nowhere else
HANGS = {"overlap_iallreduce ": "{0} & {0}".format(HANG)}
NEVER = "--limit=1000"  # seconds that no launch takes, whatever else the machine does

# A pattern of a launch's command line: the command that replaces the program, or the variable set for it.
PLANTED = {
    "=put ": "MODEL_DEVICE_US=60",
    "=get ": "MODEL_DEVICE_US=18.1",
    "collective *=bcast ": "MODEL_DEVICE_STALE=1",
    "collective *=65536 ": "MODEL_DEVICE_CRASH=1",
    "collective *--in-place ": "MODEL_DEVICE_US=60",
    "overlap_ibcast ": "MODEL_DEVICE_CRASH=1",
    "overlap_isend ": "DEVICE_BYTES=10",
    "overlap_irecv ": "echo 'commcost: rank 1: MPI_Recv(...) failed at irecv.c:9: Invalid buffer pointer'; exit 1",
    "overlap_put ": "echo 'TERMINATED WITH THE EXIT STRING: Bus error (signal 7)'; exit 7",
    "overlap_get ": "exit 3",
    "=stridedput ": '"$@"; kill -KILL $$',
    "msgrate ": "MODEL_DEVICE_US=60",
    "mpi_overhead ": "MODEL_BLOCKING_US=20",
    "irecvpacked ": "MODEL_DEVICE_STALE=1",
    "irecvtypes ": "MODEL_DEVICE_CRASH=1",
}
FOUND = {
    "MPI_Send": "works", "MPI_Put": "works", "MPI_Get": "works", "MPI_Put strided": "works",
    "MPI_Get strided": "works", "MPI_Isend": "refused", "MPI_Irecv": "refused", "MPI_Rput": "crash (SIGBUS)",
    "MPI_Rget": "failed", "MPI_Allreduce": "works", "MPI_Allreduce in place": "works", "MPI_Bcast": "wrong data",
    "MPI_Ibcast": "crash (SIGSEGV)", "message rate": "works", "host overhead": "works", "halo packed": "wrong data",
    "halo datatypes": "crash (SIGSEGV)"}
MESSAGES = {"MPI_Isend": "MiB on the GPU, and 0.0 are free", "MPI_Irecv": "Invalid buffer pointer",
            "MPI_Ibcast": "Segmentation fault"}


def command_line(process):
    try:
        with open("/proc/{}/cmdline".format(process), "rb") as stream:
            return os.fsdecode(stream.read()).replace("\0", " ")
    except OSError:  # it has ended
        return ""


def launcher_of(planted):
    """A launcher, called with the number of ranks, the program and its options."""
    cases = ""
    for pattern, action in planted.items():
        is_set = action.split("=")[0].isupper()
        pattern = "*".join("'{}'".format(part) for part in pattern.split("*"))
        cases += "*{}*) {} ;;\n".format(pattern, "export " + action if is_set else action + "; exit")
    return ('export VIRTUAL_RANKS=$1\nshift\necho "$*" >>"$STARTED"\ncase "$*" in\n' + cases + 'esac\nexec "$@"\n')


class Base(virtual.Test):
    """A build folder of programs in virtual time, and a launcher with faults."""

    def setUp(self):
        self.folder = launches.Folder(self).path
        for program in os.listdir(os.path.join(virtual.BUILD, "tests/virtual")):
            place = "overlap" if program.startswith("overlap_") else program
            if program in ("pingpong", "msgrate", "mpi_overhead", "halo", "collective") or place == "overlap":
                os.makedirs(os.path.join(self.folder, place), exist_ok=True)
                os.symlink(os.path.join(virtual.BUILD, "tests/virtual", program), os.path.join(self.folder, place, program))
        self.results = os.path.join(self.folder, "results")

    def launcher(self, planted):
        path = os.path.join(self.folder, "launch")
        with open(path, "w", encoding="ascii") as stream:
            stream.write(launcher_of(planted))
        return path

    def environment(self, **variables):
        found = dict(os.environ, LD_LIBRARY_PATH=os.path.join(virtual.BUILD, "tests/virtual/device_cuda"),
                     STARTED=os.path.join(self.folder, "started"), LC_ALL="C.UTF-8")
        found.update({name: str(value) for name, value in dict(COSTS, **variables).items()})
        return found


class Matrix(Base):
    """device_matrix.sh: times, direct and staged; each fault that is planted is called what it is."""

    target = "0.5 %"

    def begin(self, *options, planted=(), **variables):
        return subprocess.Popen(
            ["sh", SCRIPT, "--build=" + self.folder, "--launcher=sh {} {{ranks}}".format(self.launcher(dict(planted))),
             "--output=" + self.results, *options], env=self.environment(**variables), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)

    def run_matrix(self, *options, expect=0, **how):
        process = self.begin(*options, **how)
        out, errors = process.communicate()
        self.assertEqual(process.returncode, expect, out + errors)
        return out, errors

    def rows(self):
        with open(os.path.join(self.results, "matrix.tsv"), encoding="utf-8") as stream:
            lines = [line for line in stream if not line.startswith("#")]
        return {(row["operation"], row["memory"], int(row["size_bytes"])): row
                for row in csv.DictReader(lines, delimiter="\t")}

    def test_planted(self):
        out, _ = self.run_matrix(
            "--programs=pingpong,overlap_isend,overlap_irecv,overlap_put,overlap_get,MPI_Bcast,MPI_Ibcast,MPI_Allreduce,"
            "MPI_Allreduce in place,msgrate,mpi_overhead,halo", "--sizes=8", NEVER,
            planted=PLANTED, MODEL_DEVICE_CLAIM=1)
        rows = self.rows()
        self.assertEqual({name: row["outcome"] for (name, _, _), row in rows.items()}, FOUND, out)
        for name, verdict in (("MPI_Send", "pays"), ("MPI_Put", "loses"), ("MPI_Get", "even"), ("MPI_Allreduce", "even"),
                              ("MPI_Allreduce in place", "loses"), ("message rate", "loses")):
            self.assertEqual(rows[name, "device", 8]["direct_verdict"], verdict, name)
        for name, reach_us in (("MPI_Put", 60), ("MPI_Put strided", REACH_US)):
            row, host_us = rows[name, "device", 8], MODEL.sync_all([8])
            self.near(float(row["time_us"]), host_us + reach_us, 0.005 * host_us, name)
            self.near(float(row["staged_us"]), host_us + 2 * COPY_US, 0.005 * host_us, name)
        for name, reach_us in (("MPI_Allreduce", REACH_US), ("MPI_Allreduce in place", 60)):
            row, host_us = rows[name, "device", 8], 500 + MODEL.wait + 8e-3 * MODEL.byte_ns
            self.near(float(row["time_us"]), host_us + 2 * reach_us, 0.005 * host_us, name)
            self.near(float(row["staged_us"]), host_us + 2 * COPY_US, 0.005 * host_us, name + " staged")
        # Four messages to the other rank and from it, each of which is reached when it is sent and when it is received.
        for column, reach_us, copies_us in (("time_us", 60, 0), ("staged_us", 0, 2 * COPY_US)):
            truth_us = 8 * MODEL.post + 8 * MODEL.wait + 8 * reach_us + copies_us
            if column == "staged_us":
                truth_us += MODEL.alone(8) - MODEL.post
            self.near(float(rows["message rate", "device", 8][column]), truth_us, 0.005 * truth_us, column)
        overhead_us = MODEL.post + MODEL.wait + REACH_US
        self.near(float(rows["host overhead", "device", 8]["time_us"]), overhead_us, 0.005 * overhead_us, "overhead")
        for name, message in MESSAGES.items():
            self.assertIn(message, rows[name, "device", 8]["message"])
        self.assertIn("The claim is false: 8 of 17 launches with such buffers failed.", out)
        self.assertIn("staged faster", next(line for line in out.splitlines() if line.startswith("MPI_Put ")))
        self.assertLessEqual(max(map(len, out.splitlines())), 100)
        page = xml.etree.ElementTree.parse(os.path.join(self.results, "matrix.html"))
        self.assertIn("crash (SIGSEGV)", "".join(page.getroot().itertext()))

    def test_hang(self):
        """A launch that never ends has an end by its limit, with all that it started."""
        self.run_matrix("--programs=MPI_Iallreduce", "--sizes=8", "--limit=2", planted=HANGS)
        self.assertEqual([row["outcome"] for row in self.rows().values()], ["hang"])
        self.assertEqual([line for line in map(command_line, launch_processes.all_processes()) if HANG in line], [])

    def test_sizes_and_memories(self):
        """A library that reads no memory of the device above a size."""
        out, _ = self.run_matrix("--programs=MPI_Allreduce,pingpong", "--memory=device,host:device", "--dry-run")
        self.assertEqual((len(out.splitlines()), os.path.exists(self.results)), (2 * 6 * 3, False))
        self.run_matrix("--programs=MPI_Allreduce", "--sizes=8,64K", "--memory=device,pinned,device:host",
                        planted=PLANTED)
        crash = {key for key, row in self.rows().items() if row["outcome"] == "crash (SIGSEGV)"}
        self.assertEqual(crash, {("MPI_Allreduce", memory, 65536) for memory in ("device", "device:host")})
        self.assertEqual(len(self.rows()), 6)

    def test_claims(self):
        """True and false claims, by both ways in which a library makes them."""
        for name, variables, works, sentence in (
                ("true", {"MODEL_DEVICE_CLAIM": 1}, True, None), ("modest", {}, True, "works better than it claims"),
                ("key", {"MODEL_MEMORY_KINDS": "mpi,system,cuda:device"}, False, "The claim is false: 1 of 1 launch "),
                ("honest", {"MODEL_MEMORY_KINDS": "mpi,system"}, False, None)):
            with self.subTest(name):
                self.results = os.path.join(self.folder, name)
                out, _ = self.run_matrix("--programs=MPI_Put", "--sizes=8", MODEL_DEVICE_CRASH=int(not works), **variables)
                self.assertEqual(list(self.rows().values())[0]["outcome"] == "works", works)
                if sentence:
                    self.assertIn(sentence, out)
                else:
                    self.assertNotIn("claim is false", out)
                    self.assertNotIn("works better", out)

    def test_resume(self):
        """An interrupted run is resumed."""
        options = ("--programs=MPI_Send,MPI_Put,MPI_Get", "--sizes=8", NEVER)
        process = self.begin(*options, planted={"=get ": "sleep 600"})
        while "=get " not in self.started() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        self.assertIn("run_scripts/device_matrix.sh --resume={} --build=".format(self.results),
                      process.communicate()[1])
        self.assertEqual((process.returncode, len(self.rows())), (1, 2))
        table, before = os.path.join(self.results, "matrix.tsv"), os.path.join(self.folder, "before.tsv")
        os.link(table, before)
        self.run_matrix("--resume=" + self.results)
        self.assertEqual([row["outcome"] for row in self.rows().values()], ["works"] * 3)
        self.assertFalse(os.path.samefile(table, before), "a table is replaced as a whole")
        _, errors = self.run_matrix("--programs=MPI_Send", "--sizes=16", expect=1)
        self.assertTrue(errors.rstrip().endswith("(< then, > now): use another folder"), errors)
        self.assertEqual([self.started().count(name) for name in ("MPISend", "=put ", "=get ")], [1, 1, 2])

    def started(self):
        try:
            with open(os.path.join(self.folder, "started"), encoding="ascii") as stream:
                return stream.read()
        except OSError:
            return ""

    def test_refused(self):
        for option, error in (("--sizes=12", "use powers of two from 8 on"), ("--memory=gpu", "use host, pinned"),
                              ("--programs=bcast", "no such operation or program"), ("--ranks=1", "--ranks: needs at least 2"),
                              ("--limit=0", "at least 1 s"), ("--time-limit=9", "no such option")):
            _, errors = self.run_matrix(option, expect=2)
            self.assertEqual(len(errors.splitlines()), 1)
            self.assertIn(error, errors)
        _, errors = self.run_matrix("--sizes=8", expect=1, DEVICE_COUNT=0)
        self.assertIn("the first launch was refused: pingpong: --memory=device: rank 0: the CUDA driver reports", errors)
        self.assertFalse(os.path.exists(self.results), "no folder is left without a device")


class RunSh(Base):
    """tests/programs/device/run.sh, for those who have a GPU."""

    def check(self, expect, *planted, **variables):
        launch = "sh {}".format(self.launcher(dict(planted)))
        os.symlink(os.path.join(virtual.BUILD, "tests/virtual/device_bare"), os.path.join(self.folder, "device_bare"))
        done = subprocess.run(
            ["sh", os.path.join(launches.TOP, "tests/programs/device/run.sh"), self.folder], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, check=False, env=self.environment(
                LAUNCH=launch + " 2", LAUNCHER=launch + " {ranks}", SIZES=65536, STEPS=10000, RESULTS=self.results,
                **variables))
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout

    def test_passed(self):
        out = self.check(0)
        self.assertIn("\npassed: copy: 65536 bytes {0:.3f} us, bare loop {0:.3f} us\n".format(COPY_US), out)
        self.assertIn("\npassed: kernel: 10000 steps 101.000 us, bare loop 101.", out)
        self.assertTrue(out.endswith("\n4 passed, 0 failed, 0 not judged\n"), out)

    def test_failed(self):
        """Copies and kernels of the programs take longer than those of the bare loop."""
        out = self.check(1, ("device_bare copy", "DEVICE_COPY_US={}".format(COPY_US / 2)),
                         ("device_bare kernel", "DEVICE_STEP_NS=8"))
        self.assertIn("\nfailed: copy: ", out)
        self.assertIn("\nfailed: kernel: 10000 steps 101.000 us, bare loop 81.", out)

    def test_no_device(self):
        self.assertEqual(self.check(77, DEVICE_COUNT=0), "not judged: the CUDA driver reports model (100)\n")


class Outcomes(virtual.Test):
    def test_signals(self):
        """In the words of each launcher."""
        for status, text, name in (
                (11, "=   EXIT CODE: 11\nTERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)", "SIGSEGV"),
                (139, "mpirun noticed that process rank 1 on node a exited on signal 11 (Segmentation fault).", "SIGSEGV"),
                (134, "*** Process received signal ***\nSignal: Aborted (6)\nSignal code:  (-6)", "SIGABRT"),
                (15, "TERMINATED WITH THE EXIT STRING: Terminated (signal 15)", ""),
                (7, "[mpiexec@a] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed", ""),
                (137, "srun: error: node1: task 0: Killed", "SIGKILL"), (1, "MPI_Abort was called", None), (255, "", None)):
            outcome = "crash ({})".format(name) if name else "crash" if name == "" else None
            self.assertEqual(trial_launches.crash_of(status, text), outcome)

    def test_words(self):
        """A rank's own words count, whatever signals the launcher sent to other ranks."""
        killed = "\nTERMINATED WITH THE EXIT STRING: Killed (signal 9)"
        for status, text, outcome in ((9, "pingpong: --memory=device: use host" + killed, "refused"),
                                      (9, "commcost: rank 0: no memory" + killed, "failed"),
                                      (2, "", "refused"), (1, "", "failed")):
            self.assertEqual(trial_launches.outcome_of(status, False, "failed", text), outcome, text)

    def test_complete(self):
        """A result that is whole counts, whatever came after it."""
        self.assertEqual(trial_launches.outcome_of(139, False, "done", "signal 11"), "works")
        self.assertEqual(trial_launches.outcome_of(124, True, "wrong", ""), "wrong data")


if __name__ == "__main__":
    virtual.main()
