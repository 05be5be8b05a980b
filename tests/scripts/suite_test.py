# SPDX-License-Identifier: BSD-3-Clause
"""run_suite.sh: the plan, the order of launches, resuming after it was killed at any moment, failures, the budget,
merged files; with programs that only pretend."""

import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from case import Case, call, each, in_full, within
from commands import command
from commcost import system
from commcost.suite import launch_options, processor_count
from commcost.suite.launch_processes import left_behind
from commcost.suite.suite_plan import read_list
from mounts import enter_own_mounts
from mpi_run import read, read_tsv
from pretended_suite import LAUNCHER, PROGRAMS, SCRIPTS, Suite, await_file, write_program
from processes import is_alive


class SuiteCase(Case):
    """run_suite.sh with programs that pretend."""

    def setUp(self):
        super().setUp()
        self.suite = Suite(self.folder)


def make_system(suite, cores, allowed, groups=None, membership="0::/\n", name="core_cpus_list"):
    """A made-up system: the lists of each processor's core (None: offline), the processors that a
    process may use, files of control groups."""
    root = tempfile.mkdtemp(dir=suite.folder)
    files = {"proc/self/status":
             f"Name:\tawk\nCpus_allowed:\tff\nCpus_allowed_list:\t{allowed}\n",
             "proc/self/cgroup": membership}
    for processor, core in enumerate(cores):
        folder = f"sys/devices/system/cpu/cpu{processor}/"
        files.update({folder + "online": "0\n"} if core is None
                     else {folder + "topology/" + name: core + "\n"})
    files.update({"sys/fs/cgroup/" + path: text for path, text in (groups or {}).items()})
    for path, text in files.items():
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as stream:
            stream.write(text)
    suite.environment["COMMCOST_SYSTEM"] = root


def ranks_on(suite, *system, **more):
    """How many ranks a launch has on such a system."""
    make_system(suite, *system, **more)
    return int(re.search(r"-np (\d+)( -bind-to core)?$", suite.launch("mpirun")).group(1))


class Load(Case):
    """Other programs at work before a suite begins."""

    @each("before, after, share", [
        ("cpu  100 0 50 1000 10 0 0 0 0 0", "cpu  150 0 50 1050 10 0 0 0 0 0", 0.5),
        ("cpu  100 0 50 1000 10 0 0 0 70 0", "cpu  100 0 50 1090 20 0 0 0 90 0", 0.0),   # a guest's time is user's, too
        ("cpu  0 0 0 0 0 0 0 0", "cpu  0 1 1 6 0 1 0 1", 0.4),
        ("cpu  1 2 3 4 5 6 7 8", "cpu  1 2 3 4 5 6 7 8", None), ("", "", None), ("cpu x", "cpu y", None)])
    def test_busy_share(self, before, after, share):
        assert processor_count.busy_share(before, after) == (None if share is None else within(share, 1e-9))


class Writers(Case):
    def test_two_of_one_file(self):
        """Each of two that write a file at once writes all of it, and the last one stays."""
        path, replace = str(self.folder / "x.tsv"), os.replace

        def replace_later(*names):
            self.replace(system.os, "replace", replace)
            system.replace_file(path, "the other's")
            replace(*names)

        self.replace(system.os, "replace", replace_later)
        system.replace_file(path, "one's")
        assert (read(path), os.listdir(self.folder)) == ("one's", ["x.tsv"])

    def test_error_names_the_file(self):
        for path in (self.folder / "no folder/x", self.folder):
            with self.assertRaises(OSError) as raised:
                system.replace_file(str(path), "text")
            assert (raised.exception.filename, os.listdir(self.folder)) == (str(path), [])


class Plan(SuiteCase):
    """The launches of a suite, and their command lines."""

    def test_order(self):
        plan = self.suite.plan("--benchmarks=pingpong,overlap,halo", "--runs=3")
        names = ["overlap_ibarrier", "overlap_ibcast", "overlap_ibcast_sweep",
                 "overlap_sendrecv_sweep", "overlap_halo_sweep", "pingpong", "halo"]
        assert [line[:2] for line in plan] == [[run, name] for run in "123" for name in names]
        assert not os.path.exists(self.suite.results)

    def test_all(self):
        names = [line[1] for line in self.suite.plan("--runs=1")]
        assert len(names) == len(PROGRAMS) + 2
        assert len(self.suite.plan()) == 6 * len(names)
        quick = self.suite.plan("--quick")
        assert [line[1] for line in quick] == names
        assert "--local=10,50,100" in "".join(line[2] for line in quick)

    def test_what_is_not_built(self):
        """Programs that the MPI library has no call for, for example, are left out of groups with a message."""
        done = self.suite.run("--dry-run", "--benchmarks=overlap")
        left, = re.findall("(?m)^Not built, left out: (.*)$", done.stderr)
        assert {"overlap_partitioned_sweep", "overlap_put_sweep", "overlap_iscan"} <= set(left.split())
        assert "overlap_sendrecv_sweep" not in left
        assert "overlap_partitioned" not in done.stdout
        assert "overlap_partitioned: build it first" in self.suite.run(
            "--dry-run", "--benchmarks=overlap_partitioned_sweep", status=1).stderr

    def test_messages(self):
        """Two ranks exchange messages, all ranks halos. A quick suite has fewer numbers of MPI_Test calls."""
        for options, calls in (([], "0,1,4,16"), (["--quick"], "0,4")):
            plan = {line[1]: line[2] for line in self.suite.plan(
                "--runs=1", "--ranks=6", "--benchmarks=overlap", *options)}
            assert "-np 2 " in plan["overlap_sendrecv_sweep"]
            assert "--data-driven --max-num-elts=128K" in plan["overlap_sendrecv_sweep"]
            assert f"--test-calls={calls}" in plan["overlap_sendrecv_sweep"].split()
            assert "-np 6 " in plan["overlap_halo_sweep"]

    def test_quick_is_quick(self):
        """All of it is at most 130 s on two cores: with the build, three minutes."""
        assert sum(entry.seconds for entry in read_list("quick")) <= 130

    def test_essentials(self):
        """Six launches of each, alternately, 110 s at most: with the build and the report, three minutes."""
        names = [f"overlap_{name}_sweep" for name in ("iallreduce", "ialltoall", "ibcast", "sendrecv")] + [
            "msgrate", "pingpong", "halo", "collective", "guidelines",
            "collective_align", "pingpong_align", "mpi_overhead", "noise"]
        listed = read_list("essentials")
        assert [entry.name for entry in listed] == names
        assert 6 * sum(entry.seconds for entry in listed) <= 110
        there = [name for name in names if any(re.sub("_(sweep|align)$", "", name) in program for program in PROGRAMS)]
        plan = self.suite.plan("--essentials")
        assert [line[:2] for line in plan] == [[run, name] for run in "123456" for name in there]
        assert len(there) == 7
        assert "not allowed with" in self.suite.run("--essentials", "--quick", status=2).stderr

    def test_groups_and_names(self):
        for choice, names in (("msgrate", ["msgrate"]),
                              ("rate", ["msgrate", "msgrate_warm", "msgrate_rma"]),
                              ("monitor,halo", ["halo", "monitor_overhead"]),
                              ("overlap_ibcast", ["overlap_ibcast"])):
            assert [line[1] for line in self.suite.plan("--runs=1", "--benchmarks=" + choice)] == names

    def test_peers(self):
        for ranks, peers in ((2, 1), (4, 3), (7, 6), (32, 6)):
            for line in self.suite.plan("--benchmarks=rate", f"--ranks={ranks}"):
                of_line = (1, 2) if line[1] == "msgrate_warm" else (peers, ranks)
                assert f"--peers={of_line[0]} " in line[2]
                assert f"-np {of_line[1]} " in line[2]

    def test_ranks_are_cores(self):
        threads = ["0,4", "1,5", "2,6", "3,7"] * 2
        assert ranks_on(self.suite, [str(i) for i in range(6)], "0-5") == 6
        assert ranks_on(self.suite, [str(i) for i in range(64)], "0-63") == 8
        assert ranks_on(self.suite, threads, "0-7") == 4
        assert ranks_on(self.suite, ["0-1", "0-1", "2-3", "2-3", "4-5", "4-5"], "0-5") == 3
        assert ranks_on(self.suite, threads, "0-7", name="thread_siblings_list") == 4
        # Processors that this process may use; offline ones may be among them.
        assert ranks_on(self.suite, threads, "0-2,4,6") == 3
        assert ranks_on(self.suite, threads, "1-3,5-7") == 3
        assert ranks_on(self.suite, ["0"], "0") == 2
        assert ranks_on(self.suite, threads, "0,4") == 2
        assert ranks_on(self.suite, ["0", None, "2,6", "3", None, None, "2,6"], "0-127") == 3
        # A system that doesn't tell.
        processors = min(max(os.sysconf("SC_NPROCESSORS_ONLN"), 2), 8)
        assert ranks_on(self.suite, [None] * 4, "0-3") == processors
        assert ranks_on(self.suite, [], "what") == processors
        # Nothing but a default.
        make_system(self.suite, threads, "0-7")
        assert self.suite.launch("mpirun", "--ranks=7").endswith("-np 7")

    def test_ranks_in_a_slurm_job(self):
        self.suite.environment.update(SLURM_JOB_ID="7", SLURM_JOB_NUM_NODES="3", SLURM_CPUS_ON_NODE="8")
        make_system(self.suite, ["0,4", "1,5", "2,6", "3,7"] * 2, "0-7")
        # If the suite doesn't run on a node of the job, the node's cores are unknown.
        assert "--ntasks=24" in self.suite.launch("")
        self.suite.environment["SLURMD_NODENAME"] = "a"
        assert "--ntasks=12" in self.suite.launch("")
        self.suite.environment["SLURM_CPUS_ON_NODE"] = "2"
        assert "--ntasks=6" in self.suite.launch("")

    def test_threads_and_ranks_per_node(self):
        """Open MPI takes one --map-by."""
        make_system(self.suite, [str(i) for i in range(8)], "0-7")
        line = self.suite.launch("orterun", "--ranks=4", "--ranks-per-node=2", "--options=msgrate_rma: -t 2",
                                 name="msgrate_rma")
        assert line.count("--map-by") == 1 and "--map-by ppr:2:node:PE=2 --bind-to core" in line

    @each("variables, ranks", [
        ({"SLURM_TASKS_PER_NODE": "4(x2)"}, 8), ({"SLURM_TASKS_PER_NODE": "4(x2),3"}, 11),
        ({"SLURM_TASKS_PER_NODE": "4(x2)", "SLURM_NTASKS": "8", "SLURM_JOB_NUM_NODES": "2"}, 8)])
    def test_tasks_of_a_slurm_job(self, variables, ranks):
        self.suite.environment.update(SLURM_JOB_ID="7", **variables)
        assert f"--ntasks={ranks}" in self.suite.launch("")

    @each("variables, named", [
        ({"SLURM_NTASKS": "2x"}, "SLURM_NTASKS='2x' is no number"),
        ({"SLURM_NTASKS": "8", "SLURM_JOB_NUM_NODES": "0"}, "SLURM_JOB_NUM_NODES='0' is no number"),
        ({"SLURM_TASKS_PER_NODE": "4(2)"}, "SLURM_TASKS_PER_NODE='4(2)' can't be read"),
        ({"SLURM_TASKS_PER_NODE": "4(x2)", "SLURM_NTASKS": "6"}, "SLURM_NTASKS=6 contradicts"),
        ({"SLURM_TASKS_PER_NODE": "4(x2)", "SLURM_JOB_NUM_NODES": "3"}, "SLURM_JOB_NUM_NODES=3 contradicts")])
    def test_what_slurm_can_not_mean(self, variables, named):
        self.suite.environment.update(SLURM_JOB_ID="7", **variables)
        done = self.suite.run("--launcher=mpirun", "--dry-run", status=2)
        assert named in done.stderr and "use --ranks" in done.stderr, done.stderr
        # Options given by the user win over Slurm's variables.
        assert "-np 2 " in self.suite.launch("mpirun", "--hosts=a,b")

    @each("processors, ranks", [
        (100, 8), (3.9, 3), (0.5, 2),
        *in_full((4, 4), (2, 2))])
    def test_ranks_by_quota(self, processors, ranks):
        quota = f"{processors * 1e5:.0f}"
        two, one = f"{quota} 100000\n", "100000\n"
        for membership, files in (
                ("0::/\n", {"cpu.max": two}),
                ("0::/a/b/c\n", {"a/cpu.max": two, "a/b/cpu.max": "max 100000\n"}),
                ("0::/a/b\n", {"a/cpu.max": "900000 100000\n", "a/b/cpu.max": two}),
                ("1:name=systemd:/x\n0::/a\n", {"unified/a/cpu.max": two}),
                ("4:memory:/m\n3:cpu,cpuacct:/a/b\n0::/\n",
                 {"cpu,cpuacct/a/cpu.cfs_quota_us": quota, "cpu,cpuacct/a/cpu.cfs_period_us": one,
                  "cpu,cpuacct/a/b/cpu.cfs_quota_us": "-1\n",
                  "cpu,cpuacct/a/b/cpu.cfs_period_us": one}),
                ("3:cpu:/\n", {"cpu/cpu.cfs_quota_us": quota, "cpu/cpu.cfs_period_us": one})):
            eight = [str(i) for i in range(8)]
            assert ranks_on(self.suite, eight, "0-7", files, membership) == ranks, membership

    def test_odd_quotas(self):
        for odd in ("", "max\n", "x y\n", "0 100000\n", "-5 100000\n", "100000 0\n"):
            assert ranks_on(self.suite, [str(i) for i in range(8)], "0-7", {"cpu.max": odd}) == 8, odd
        # A quota is compared with cores, not with hardware threads.
        assert ranks_on(self.suite, ["0,2", "1,3"] * 2, "0-3", {"cpu.max": "300000 100000\n"}) == 2

    def test_options(self):
        plan = self.suite.plan("--runs=1", "--options=all: --max-time=0.5 --x",
                               "--options=halo: --local=7", "--options=msgrate: --y",
                               "--options=overlap_iallreduce: --form=all")
        for _, name, command in plan:
            assert "--max-time=0.5 --x" in command
            assert ("--local=7" in command) == (name == "halo")
            assert ("--y" in command) == (name == "msgrate")
            assert ("--form=all" in command) == (name == "overlap_iallreduce")

    def test_launchers(self):
        job = ["--ranks=8", "--ranks-per-node=4", "--hosts=a,b", "--bind=core"]
        allow = "--allow-run-as-root " if os.geteuid() == 0 else ""
        for launcher, all_ranks, pair in (
                ("mpirun", "mpirun -np 8 -ppn 4 -hosts a,b -bind-to core",
                 "mpirun -np 2 -ppn 1 -hosts a,b -bind-to core"),
                ("orterun",
                 f"orterun {allow}-np 8 --map-by ppr:4:node --host a:4,b:4 --bind-to core",
                 f"orterun {allow}-np 2 --map-by ppr:1:node --host a:4,b:4 --bind-to core"),
                ("srun --mpi=pmi2",
                 "srun --mpi=pmi2 --kill-on-bad-exit=1 --ntasks=8 --nodes=2 --ntasks-per-node=4 "
                 "--nodelist=a,b --cpu-bind=cores --export=ALL",
                 "srun --mpi=pmi2 --kill-on-bad-exit=1 --ntasks=2 --nodes=2 --ntasks-per-node=1 "
                 "--nodelist=a,b --cpu-bind=cores --export=ALL"),
                ("other -n {ranks} -N {ranks_per_node} -L {hosts} -b {bind} -o {nodes}",
                 "other -n 8 -N 4 -L a,b -b core -o 2", "other -n 2 -N 1 -L a,b -b core -o 2")):
            assert self.suite.launch(launcher, *job) == all_ranks
            assert self.suite.launch(launcher, *job, name="mpi_overhead") == pair
        for launcher, options, expected in (
                # Ranks are spread over the hosts, however many a host could have.
                ("orterun", ["--ranks=7", "--hosts=a,b"], f"orterun {allow}-np 7 --host a:4,b:4"),
                ("mpirun", ["--ranks=7", "--hosts=a,b"], "mpirun -np 7 -ppn 4 -hosts a,b"),
                ("mpirun", ["--ranks=3"], "mpirun -np 3"),
                ("srun", ["--ranks=3"], "srun --kill-on-bad-exit=1 --ntasks=3 --export=ALL"),
                ("srun -K0", ["--ranks=3"], "srun -K0 --ntasks=3 --export=ALL"),
                ("srun --kill-on-bad-exit=0 --export=A", ["--ranks=3"],
                 "srun --kill-on-bad-exit=0 --export=A --ntasks=3")):
            assert self.suite.launch(launcher, *options) == expected

    def test_binding(self):
        """Where each rank has a core, it is bound; with asynchronous progress, threads without
        room or --bind=none it isn't."""
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs 2 processors")
        allow = "--allow-run-as-root " if os.geteuid() == 0 else ""
        two = f"orterun {allow}--oversubscribe -np 2"
        for launcher, options, expected in (
                ("mpirun", [], "mpirun -np 2 -bind-to core"),
                ("mpirun", ["--bind=none"], "mpirun -np 2"),
                ("mpirun", ["--bind=socket"], "mpirun -np 2 -bind-to socket"),
                ("orterun", [], two + " --bind-to core"),
                ("orterun", ["--bind=none"], two),
                ("srun", ["--bind=none"], "srun --kill-on-bad-exit=1 --ntasks=2 --export=ALL")):
            assert self.suite.launch(launcher, "--ranks=2", *options) == expected
        many = f"--options=msgrate_rma: -t {len(os.sched_getaffinity(0))}"
        assert self.suite.launch("mpirun", "--ranks=2", many, name="msgrate_rma") == "mpirun -np 2"
        assert self.suite.launch("mpirun", "--ranks=2", many) == "mpirun -np 2 -bind-to core"
        self.suite.environment["MPIR_CVAR_ASYNC_PROGRESS"] = "1"
        assert self.suite.launch("mpirun", "--ranks=2") == "mpirun -np 2"

    def test_jobs(self):
        """The job's size as schedulers report it."""
        self.suite.environment.update(SLURM_JOB_ID="7", SLURM_NTASKS="12", SLURM_JOB_NUM_NODES="3")
        kill, export = "srun --kill-on-bad-exit=1 --ntasks=", " --export=ALL"
        assert self.suite.launch("") == kill + "12" + export
        assert self.suite.launch("", name="mpi_overhead") == kill + "2 --nodes=2 --ntasks-per-node=1" + export
        # Where srun can't start the library's ranks another launcher has the job's nodes.
        assert self.suite.launch("mpirun") == "mpirun -np 12"
        assert self.suite.launch("mpirun", name="mpi_overhead") == "mpirun -np 2 -ppn 1"
        assert self.suite.launch("sh -n {ranks} -d {nodes}") == "sh -n 12 -d 3"
        del self.suite.environment["SLURM_NTASKS"]
        assert self.suite.launch("", "--ranks-per-node=5") == kill + "15 --nodes=3 --ntasks-per-node=5" + export
        for name in ("SLURM_JOB_ID", "SLURM_JOB_NUM_NODES"):
            del self.suite.environment[name]
        nodes = self.suite.folder / "nodes"
        nodes.write_text("a\na\nb\nb\n")
        self.suite.environment["PBS_NODEFILE"] = str(nodes)
        assert self.suite.launch("mpirun") == "mpirun -np 4 -bind-to core"
        assert self.suite.launch("mpirun", name="mpi_overhead") == "mpirun -np 2 -ppn 1 -bind-to core"

    @each("option, named", [
        ("--benchmarks=pingpong,foo", "foo"), ("--benchmarks=", "--benchmarks"),
        ("--runs=0", "--runs"), ("--runs=many", "--runs"), ("--ranks=1", "--ranks"),
        ("--budget=soon", "--budget"), ("--limit=x", "--limit"), ("--limit=0", "--limit"),
        ("--foo", "--foo"), ("extra", "extra"), ("--options=--x", "--options"),
        ("--options=foo: --x", "foo"), ("--runs", "--runs"),
        ("--options=halo: --output=x", "--output"), ("--options=halo: --no-header", "--no-header"),
        ("--options=halo: --x --no-metadata", "--no-metadata"),
        ("--options=halo: --metadata=short", "--metadata"), ("--options=all: --col main", "--columns"),
        ("--options=mpi_overhead: --nohdr", "--nohdr"), ("--options=halo: --ou=x", "--output"),
        ("--options=halo: --f table", "--format"), ("--options=mpi_overhead: --both -n", "header"),
        ("--options=halo: --form=table", "--format"), ("--options=all: --form all", "--format"),
        ("--options=overlap_isend: --forma=table", "--format"),
        ("--options=msgrate: -o", "header"), ("--build=/no/such", "--build"),
        ("--launcher=other -n", "{ranks}"), ("--resume=/no/such", "--resume"),
        ("--resume", "--resume"), ("--quick=no", "--quick")])
    def test_usage(self, option, named):
        done = self.suite.run(option, status=2)
        assert named in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr

    def test_what_is_not_there(self):
        assert "/no/such" in self.suite.run("--launcher=/no/such", status=1).stderr
        os.remove(self.suite.build / "halo/halo")
        assert "halo" in self.suite.run("--benchmarks=halo", status=1).stderr
        assert "--budget" in self.suite.run("--help").stdout


class Results(SuiteCase):
    """The files of a suite."""

    def test_interleaved(self):
        done = self.suite.run("--benchmarks=overlap_ibarrier,pingpong,halo", "--runs=4")
        names = ["overlap_ibarrier", "pingpong", "halo"]
        expected = [(run, name) for run in "1234" for name in names]
        assert self.suite.launches("run", "name") == expected
        assert {row[0] for row in self.suite.launches("result")} == {"done"}
        dates = [float(re.search("# date: (.*)", read(f"{self.suite.results}/runs/{run}/{name}.tsv"))[1])
                 for run, name in expected]
        assert dates == sorted(dates)
        for name in names:
            self.suite.assert_rows(name, 4)
        self.suite.assert_nothing_left()
        assert "[12/12] run 4 of 4: halo" in done.stderr
        assert "left" in done.stderr

    def test_merged_file(self):
        self.suite.run("--benchmarks=halo", "--runs=3")
        text = read(self.suite.results / "halo.tsv")
        first = read(self.suite.results / "runs/1/halo.tsv").splitlines()
        assert text.count("# date: ") == 1
        assert first[1] + "\n" in text
        assert "# columns: run=key key=key value=less" in text
        dates = [re.search("(?m)^# date: (.*)$", read(self.suite.results / f"runs/{run}/halo.tsv"))[1]
                 for run in (1, 3)]
        assert re.findall("(?m)^# (?:last_)?date: (.*)$", text) in (dates, dates[::-1])
        assert "\nrun\tkey\tvalue\tword\tsamples\tstatus\n" in text
        # Remarks that all runs share are there once, others for each run.
        assert text.count("the same in all") == 1
        assert len(re.findall("# warning: of [0-9]", text)) == 1
        assert re.findall("# warning: (run [0-9]): of", text) == ["run 2", "run 3"]
        # Remarks on a row are there for each run.
        for word in ("note", "warning"):
            assert re.findall(f"# {word}: (.*)row 1: of it", text) == ["", "run 2: ", "run 3: "]
        assert text.count("# end: ") == 1
        assert text.endswith("\n# end: 9 rows, exit 0\n"), text
        # Another header can't be merged with this one.
        other = self.suite.results / "runs/2/halo.tsv"
        other.write_text(read(other).replace("value", "wert"))
        assert "other columns" in self.suite.run("--benchmarks=halo", "--runs=3", status=1).stderr
        assert read(self.suite.results / "halo.tsv") == text

    @each("facts, last, expected", [
        ([("0", "memlock_bytes", "65536"), ("0", "clock.source", "tsc"), ("1", "memlock_bytes", "8388608"),
          ("1", "pid", "7")], "# end: 4 rows, exit 0\n",
         ["# fact.memlock_bytes: 65536, 8388608", "# fact.clock.source: tsc"]),
        ([("0", "memlock_bytes", "65536")], "", [])])
    def test_facts(self, facts, last, expected):
        """Each result has those of the check-up in its metadata, if its job ended well."""
        columns = ["rank=key", "fact=key", "value=info", "unit=info", "value_lo=info", "value_hi=info"]
        rows = [[column.partition("=")[0] for column in columns], *([*row, "NA", "NA", "NA"] for row in facts)]
        text = "".join(["# benchmark: checkup\n", f"# columns: {' '.join(columns)}\n",
                        *("\t".join(row) + "\n" for row in rows), last])
        write_program(self.suite.build / "checkup/checkup",
                      f"#!/bin/sh\ncat >\"${{3#--output=}}\" <<'END'\n{text}END\n")
        self.suite.run("--benchmarks=halo", "--runs=2")
        for path in ("runs/1/halo.tsv", "runs/2/halo.tsv", "halo.tsv"):
            lines = read(self.suite.results / path).splitlines()
            assert [line for line in lines if line.startswith("# fact")] == expected, path
            columns = next(place for place, line in enumerate(lines) if line.startswith("# columns: "))
            assert lines[columns - len(expected):columns] == expected
        self.suite.assert_rows("halo", 2)

    def test_run_again(self):
        self.suite.environment["UCX_TLS"] = "it's \"self\"\nand tcp"
        self.suite.environment["UCX_SECRET_KEY"] = "hidden"
        self.suite.run("--benchmarks=halo,pingpong", "--runs=2", "--options=halo: --rows=5")
        for name in ("versions", "environment", "environment_of_site", "hosts", "system",
                     "plan.tsv", "options", "calls", "lscpu.txt"):
            assert os.path.getsize(self.suite.of_suite(name)), name
        assert "hidden" not in read(self.suite.of_suite("environment"))
        assert "halo/halo" in read(self.suite.of_suite("versions"))
        assert "PATH=" in read(self.suite.of_suite("environment_of_site"))
        said = call(["sh", "-c", ". \"$0\"; printf %s \"$UCX_TLS\"", self.suite.of_suite("environment")],
                    env={"PATH": os.environ["PATH"]})
        assert said.stdout == self.suite.environment["UCX_TLS"]
        plan = read(self.suite.of_suite("plan.tsv"))
        again = self.suite.of_suite("run_again.sh")
        self.suite.results = self.suite.folder / "once more"
        subprocess.run(["sh", again, f"--output={self.suite.results}"], env=self.suite.environment, check=True,
                       capture_output=True)
        assert read(self.suite.of_suite("plan.tsv")) == plan
        self.suite.assert_rows("halo", 2, rows=5)
        # More runs are run again, too; the budget was for one call.
        self.suite.run("--benchmarks=halo,pingpong", "--runs=3", "--options=halo: --rows=5",
                       "--budget=1h")
        again = read(self.suite.of_suite("run_again.sh"))
        assert "--runs=3" in again
        assert "--budget" not in again


THREE = ["overlap_ibarrier", "pingpong", "halo"]
THREE_RUNS = ["--benchmarks=" + ",".join(THREE), "--runs=3",
              "--options=all: --rows=4 --pause=0.04"]


def kill_at(suite, options, wait_s, with_launch=False, started=False):
    """Begins the suite, and kills it so much later, or after a program started. Its launch is
    killed with it, or left behind."""
    process = suite.begin(*options)
    if started:
        await_file(suite.environment["STARTED"])
    time.sleep(wait_s)
    if with_launch:
        process.kill()
        for left in left_behind(suite.results / "runs"):
            os.kill(left, signal.SIGKILL)
    process.kill()
    process.wait()
    process.stderr.close()


def assert_goes_on(suite, before, *options):
    """The suite measures what is missing of THREE_RUNS, and no more."""
    suite.run(*options)
    suite.assert_kept(before)
    assert len(suite.files()) == 9
    for name in THREE:
        suite.assert_rows(name, 3, rows=4)
    suite.assert_nothing_left()


def said_by(process, status, timeout_s=20):
    """Waits for the end of a suite that must end with this status; returns its stderr."""
    said = process.communicate(timeout=timeout_s)[1]
    assert process.returncode == status, said
    return said


class Resume(SuiteCase):
    """Killed at any moment, the suite is resumed: no launch that was finished is made
    again, no row is lost or there twice."""

    def test_killed_at_random(self):
        chance = random.Random(7)
        for trial in range(3 if self.full else 2):
            shutil.rmtree(self.suite.results, ignore_errors=True)
            for _ in range(3):
                before = self.suite.files()
                kill_at(self.suite, THREE_RUNS, chance.uniform(0.1, 0.9), with_launch=trial % 2)
                self.suite.assert_kept(before)
            # A launch that was left behind may yet start its program.
            self.suite.environment["STARTED"] = f"{self.suite.folder}/started {trial}"
            before = self.suite.files()
            assert_goes_on(self.suite, before, *THREE_RUNS)
            # Only what was missing was measured.
            assert sum(self.suite.started().values()) == 9 - len(before), trial

    @each("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"])
    def test_signals(self, name):
        process = self.suite.begin(*THREE_RUNS)
        await_file(self.suite.results / "runs/1/overlap_ibarrier.tsv")
        time.sleep(0.2)
        process.send_signal(signal.Signals[name])
        said = said_by(process, 3 if name == "SIGUSR1" else 1)
        assert re.search("To resume: .*run_scripts/run_suite.sh --resume=", said), said
        assert name in said
        self.suite.assert_nothing_left()
        before = self.suite.files()
        assert before
        # Finished launches are merged.
        assert self.suite.merged(THREE[0])
        # USR1 lets the launch in hand end; the others may come when there is none.
        lost = sum(self.suite.started().values()) - len(before)
        assert lost in ((0,) if name == "SIGUSR1" else (0, 1))
        assert_goes_on(self.suite, before, f"--resume={self.suite.results}")

    def test_signal_at_the_end(self):
        """One that comes in the last launch leaves nothing out."""
        process = self.suite.begin("--benchmarks=halo", "--runs=1", "--options=all: --pause=0.4")
        await_file(self.suite.results / "runs/1/halo.tsv.part")
        process.send_signal(signal.SIGUSR1)
        assert "Done in" in said_by(process, 0)

    def test_ignored_signals(self):
        """A signal that nohup ignores doesn't end a suite."""
        line = self.suite.line("--benchmarks=halo", "--runs=1", "--options=all: --rows=4 --pause=0.2")
        process = subprocess.Popen(["nohup", *line], env=self.suite.environment, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        await_file(self.suite.environment["STARTED"])
        process.send_signal(signal.SIGHUP)
        assert "1 of 1 launches have their result" in said_by(process, 0)

    @each("limit", [[], ["--limit=1"]])
    def test_ranks_outlive_their_launcher(self, limit):
        """Open MPI's have process groups of their own. A launch that is ended, by a signal or by
        --limit, is over when they are."""
        path = self.suite.environment["STARTED"] + ".rank"
        write_program(self.suite.folder / "bin/orterun", LAUNCHER.replace(
            "VERSION", "mpirun (Open MPI) 4.1.4").replace('exec "$@"', f"""
python3 -c 'import os, sys, time
os.setpgid(0, 0)
with open(sys.argv[1] + ".part", "w") as stream:
    stream.write(str(os.getpid()))
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(60)' "{path}" &
exec "$@" """))
        process = self.suite.begin("--benchmarks=halo", "--runs=1", "--options=all: --pause=30", *limit)
        await_file(path)
        if not limit:
            process.send_signal(signal.SIGTERM)
        said = said_by(process, 1, timeout_s=30)
        assert not is_alive(int(read(path))), said

    @each("fault", ["signal", "status0"])
    def test_interrupted_program(self, fault):
        """A scheduler may warn the programs alone."""
        done = self.suite.run("--benchmarks=pingpong,halo", "--runs=2",
                              f"--options=halo: --fault={fault}", status=1)
        assert "To resume" in done.stderr
        assert [os.path.basename(path) for path in self.suite.files()] == ["pingpong.tsv"]

    def test_killed_while_it_wrote(self):
        """Half-written files are removed when the suite is resumed."""
        self.suite.run("--benchmarks=halo", "--runs=1")
        for name in ("suite", "runs/1"):
            (self.suite.results / name / ".0123456789abcdef.new").touch()
        self.suite.run("--benchmarks=halo", "--runs=1")
        self.suite.assert_nothing_left()

    def test_what_is_not_whole_any_more(self):
        """As after a copy that was cut off: it is measured again."""
        self.suite.run("--benchmarks=halo", "--runs=2")
        path = self.suite.results / "runs/2/halo.tsv"
        path.write_text(read(path)[:-20])
        assert "halo.tsv is incomplete: measuring it again" in self.suite.run("--benchmarks=halo", "--runs=2").stderr
        self.suite.assert_rows("halo", 2)
        assert sorted(os.listdir(path.parent)) == ["halo.log", "halo.tsv"]

    def test_killed_before_it_had_a_lock(self):
        for name in ("suite", "runs"):
            (self.suite.results / name).mkdir(parents=True)
            self.suite.run("--benchmarks=halo", "--runs=1", "--dry-run")
        self.suite.run("--benchmarks=halo", "--runs=1")
        self.suite.assert_rows("halo", 1)

    @each("stderr", ["2>&-", "2>&1 | true", ">&- 2>&-"])
    def test_nobody_reads(self, stderr):
        """A suite whose stderr is closed, or whose reader has gone, measures what it should."""
        line = " ".join(map(shlex.quote, map(str, self.suite.line("--benchmarks=halo", "--runs=2"))))
        call(["sh", "-c", f"{{ {line}; echo $? >'{self.folder}/status'; }} {stderr}"], env=self.suite.environment)
        assert read(self.folder / "status") == "0\n"
        self.suite.assert_rows("halo", 2)
        assert "+ " == read(self.suite.results / "runs/1/halo.log")[:2]

    def test_what_is_left(self):
        """A dry run shows launches that aren't measured yet."""
        self.suite.run("--benchmarks=halo", "--runs=2")
        first, step = self.suite.run("--dry-run", "--benchmarks=halo", "--runs=3").stdout.splitlines()
        assert first.startswith("# 3 launches: ") and ", 2 of them measured before: about " in first, first
        assert step.startswith("3\thalo\t")

    def test_other_variables(self):
        """A resumed suite warns if its launches get other variables than the first ones."""
        self.suite.environment.update(UCX_A="1", UCX_B="1", UCX_TOKEN="1")
        self.suite.run("--benchmarks=halo", "--runs=1")
        assert "Warning" not in self.suite.run("--benchmarks=halo", "--runs=2").stderr
        self.suite.environment.update(UCX_A="2", UCX_C="1", UCX_TOKEN="2")
        done = self.suite.run("--benchmarks=halo", "--runs=3")
        assert "Warning: not as in the first launches: UCX_A and UCX_C: use the values in " in done.stderr, done.stderr

    def test_complete(self):
        """Only a suite with all of its launches is marked so."""
        for options, is_complete in ((["--runs=1"], True), (["--runs=2", "--budget=1"], False)):
            self.suite.run("--benchmarks=halo", *options)
            assert os.path.exists(self.suite.of_suite("complete")) == is_complete, options

    def test_same_second(self):
        """Suites that begin in one second have a folder each."""
        self.replace(launch_options, "TOP", str(self.suite.folder))
        self.replace(time, "strftime", lambda *_: "now")
        for name in ("now", "now-2", "now-3"):
            done = command("suite", f"--build={self.suite.build}", "--launcher=mpirun", "--benchmarks=halo", "--runs=1",
                           environment=self.suite.environment)
            assert f"Results: {self.suite.folder}/results/{name}\n" in done.stderr, done.stderr
            assert os.path.exists(self.suite.folder / "results" / name / "halo.tsv")

    def test_half_a_record(self):
        """A full disk cuts off a record; the next doesn't continue it."""
        choice = ["--benchmarks=halo,pingpong", "--runs=2"]
        self.suite.run(*choice)
        self.suite.of_suite("launches.tsv").write_text(read(self.suite.of_suite("launches.tsv"))[:-12])
        os.remove(self.suite.results / "runs/2/halo.tsv")
        done = self.suite.run(*choice)
        assert "4 of 4 launches" in done.stderr
        assert self.suite.launches("run", "name", "result") == [
            (run, name, "done") for run in "12" for name in ("pingpong", "halo")]

    def test_other_plan(self):
        self.suite.run("--benchmarks=halo,pingpong", "--runs=2")
        before = self.suite.files()
        for other in (["--benchmarks=halo", "--runs=2"],
                      ["--benchmarks=halo,pingpong", "--runs=1"],
                      ["--benchmarks=halo,pingpong", "--runs=2", "--ranks=4"],
                      ["--benchmarks=halo,pingpong", "--runs=2", "--options=halo: --rows=4"]):
            assert "another plan" in self.suite.run(*other, status=1).stderr
        assert self.suite.files() == before
        with open(self.suite.build / "halo/halo", "a", encoding="utf-8") as stream:
            stream.write("# changed\n")
        done = self.suite.run("--benchmarks=halo,pingpong", "--runs=2", status=1)
        assert "other programs" in done.stderr
        assert self.suite.files() == before
        # A folder with something else in it isn't for a suite.
        self.suite.results = self.suite.folder / "else"
        self.suite.results.mkdir()
        (self.suite.results / "mine.tsv").touch()
        assert "of another program" in self.suite.run(status=1).stderr

    def test_one_at_a_time(self):
        choice = ["--benchmarks=halo", "--runs=1", "--options=all: --rows=3 --pause=1.5"]
        process = self.suite.begin(*choice)
        await_file(self.suite.environment["STARTED"])
        assert "another run_suite.sh" in self.suite.run(*choice, status=1).stderr
        said_by(process, 0)
        self.suite.assert_rows("halo", 1)


class Failures(SuiteCase):
    """A launch that fails is recorded, the suite continues, and its exit status is 1."""

    @each("fault, result, rows, exits", [
        ("exit", "failed", 0, "3"),
        ("killed", "failed", 0, "137"),
        ("wrong_killed", "failed", 0, "137"),  # rows with FAIL don't make a launch whole
        ("end_killed", "failed", 0, "137"),    # all rows are there, but nobody knows
        ("rows", "failed", 0, "0"),            # fewer than the end mark has
        ("nothing", "failed", 0, "0"),
        ("wrong", "wrong", 3, "1")])           # all rows are there; 1 all the same
    def test_fault(self, fault, result, rows, exits):
        done = self.suite.run("--benchmarks=pingpong,halo", "--runs=2",
                              f"--options=pingpong: --fault={fault}", status=1)
        assert self.suite.launches("name", "result", "exit") == [("pingpong", result, exits),
                                                                 ("halo", "done", "0")] * 2
        self.suite.assert_rows("halo", 2)
        assert os.path.exists(self.suite.results / "pingpong.tsv") == (rows > 0)
        if rows:
            self.suite.assert_rows("pingpong", 2, rows)
        self.suite.assert_nothing_left()
        assert "pingpong (run 1) pingpong (run 2)" in done.stderr
        if fault == "exit":
            assert "broken on purpose" in done.stderr
            assert len(read_tsv(read(self.suite.results / "runs/1/pingpong.tsv.failed"))) == 1
        if fault == "wrong":
            # So the launch isn't made again.
            before = self.suite.files()
            self.suite.run(f"--resume={self.suite.results}", status=1)
            assert self.suite.files() == before

    @each("fault, status", [("finalize", "124"), ("finalize_killed", "137")])
    def test_ends_late(self, fault, status):
        """The result is complete, whatever happens then: it counts, and isn't measured again."""
        done = self.suite.run("--benchmarks=pingpong,halo", "--runs=1", "--limit=1",
                              f"--options=pingpong: --fault={fault}")
        assert f"pingpong: the result is complete, but the launch ended with exit status {status}: see " in done.stderr
        assert self.suite.launches("name", "result", "exit") == [("pingpong", "done", status),
                                                                 ("halo", "done", "0")]
        self.suite.assert_rows("pingpong", 1)
        self.suite.assert_nothing_left()
        self.suite.run(f"--resume={self.suite.results}")
        assert self.suite.started() == {"pingpong": 1, "halo": 1}

    def test_hangs(self):
        """A launch that doesn't end is ended."""
        done = self.suite.run("--benchmarks=pingpong,halo", "--runs=1", "--limit=1",
                              "--options=pingpong: --pause=30", status=1)
        assert "pingpong took longer than 1 s" in done.stderr
        assert self.suite.launches("name", "result") == [("pingpong", "failed"), ("halo", "done")]
        self.suite.assert_nothing_left()


FORTY_ROWS = ["--benchmarks=pingpong,halo", "--options=all: --rows=40"]


class Disk(SuiteCase):
    """No space, and a folder that goes away: the suite reports it and ends; it can be resumed."""

    def use_small_fs(self):
        """The folder of the results is a file system of 1 MiB, which this process alone sees."""
        enter_own_mounts()
        results = self.suite.results
        results.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1024k", "tmpfs", results], check=True)
        self.addCleanup(subprocess.run, ["umount", results], check=True)

    def fill(self, name, left_kib):
        """Writes a file that fills the file system except for `left_kib`."""
        status = os.statvfs(self.suite.results)
        path = self.suite.results / name
        path.write_bytes(b"x" * max(status.f_bavail * status.f_frsize - left_kib * 1024, 0))
        return path

    @each("left_kib", [4, 16, *in_full(0, 8, 12, 24, 32, 48)])
    def test_full(self, left_kib):
        """Whatever space there is left: nothing is lost or there twice."""
        self.use_small_fs()
        self.suite.run(*FORTY_ROWS, "--runs=1")
        ballast = self.fill("ballast", left_kib)
        before = self.suite.files()
        done = self.suite.run(*FORTY_ROWS, "--runs=4", status=1)
        assert re.search("cannot write in .*no space|Failed: |Could not merge", done.stderr)
        ballast.unlink()
        self.suite.assert_kept(before)
        before = self.suite.files()
        self.suite.run(*FORTY_ROWS, "--runs=4")
        self.suite.assert_kept(before)
        for name in ("pingpong", "halo"):
            self.suite.assert_rows(name, 4, rows=40)
        assert self.suite.launches("result")[-1] == ("done",)
        self.suite.assert_nothing_left()

    def test_removed(self):
        process = self.suite.begin("--benchmarks=pingpong,halo", "--runs=9",
                                   "--options=all: --rows=4 --pause=0.1")
        await_file(self.suite.results / "runs/1/pingpong.tsv")
        for _ in range(20):
            # The suite may be making a file in it.
            shutil.rmtree(self.suite.results, ignore_errors=True)
            if not os.path.exists(self.suite.results):
                break
        assert "cannot write in" in said_by(process, 1)
        assert not os.path.exists(self.suite.results)


class Budget(SuiteCase):
    """The whole ends in time, and no launch has half its rows."""

    def test_not_started(self):
        choice = ["--benchmarks=pingpong,halo", "--runs=9",
                  "--options=all: --rows=2 --pause=0.4 --max-time=0.01", "--budget=4"]
        done = self.suite.run(*choice)
        assert "budget is used up" in done.stderr
        files = self.suite.files()
        assert 2 <= len(files) <= 5, done.stderr
        self.suite.assert_nothing_left()
        # The next call has a budget of its own.
        self.suite.run(*choice)
        assert len(self.suite.files()) > len(files)

    def test_ended(self):
        """A launch that takes longer than expected is ended. Without a result the exit status is 1."""
        done = self.suite.run("--benchmarks=halo", "--runs=3", "--budget=2",
                              "--options=all: --rows=40 --pause=0.5 --max-time=0.01", status=1)
        assert "budget is used up" in done.stderr
        assert self.suite.files() == {}
        self.suite.assert_nothing_left()

    def in_job(self, left, end_s=None):
        """From now on the suite runs in a Slurm job with this time left, as squeue prints it."""
        write_program(self.suite.folder / "bin/squeue", f"""#!/bin/sh
[ "$*" = "--noheader --jobs=7 --format=%L" ] && echo "{left}"
""")
        self.suite.environment["SLURM_JOB_ID"] = "7"
        if end_s is not None:
            self.suite.environment["SLURM_JOB_END_TIME"] = str(int(time.time()) + end_s)

    @each("left, end_s, is_over", [
        ("0:20", None, True), ("10:00", None, False), ("1:00:10", None, False), ("2-00:00:00", None, False),
        ("UNLIMITED", None, False), ("", 20, True), ("", 600, False), ("10:00", 20, False), ("0:20", 600, True)])
    def test_job_time(self, left, end_s, is_over):
        """No launch starts that would take longer than Slurm leaves; squeue knows of a changed limit."""
        self.in_job(left, end_s)
        done = self.suite.run("--benchmarks=halo", "--runs=1", status=3 if is_over else 0)
        assert ("Ended by the job's time: 0 of 1 launches" in done.stderr) == is_over
        assert len(self.suite.files()) == 1 - is_over

    def test_job_ends(self):
        """A launch that Slurm would kill is ended before. (That the next job makes it again: launch_test.py.)"""
        self.in_job("0:40")
        self.suite.run("--benchmarks=halo", "--runs=1", "--options=all: --max-time=0.01 --pause=60", status=3)
        assert self.suite.launches("name", "result") == [("halo", "unfinished")]
        self.suite.assert_nothing_left()


class Quickstart(SuiteCase):
    """quickstart.sh in a tree of its own, with nothing to build, and a benchmark that pretends to be collective, which
    two entries start."""

    COLLECTIVE = r"""#!/bin/sh
for output; do :; done
exec >"${output#--output=}"
echo "# benchmark: collective"
echo "# columns: operation=key size_bytes=key time_us=less time_lo_us=info time_hi_us=info status=info"
printf 'operation\tsize_bytes\ttime_us\ttime_lo_us\ttime_hi_us\tstatus\n'
printf 'barrier\tNA\t1.5\t1\t2\tok\n'
echo "# end: 1 row, exit 0"
"""

    def setUp(self):
        super().setUp()
        self.top = self.suite.folder / "top"
        self.top.mkdir()
        (self.top / "run_scripts").symlink_to(SCRIPTS)
        (self.top / "CMakeLists.txt").touch()
        write_program(self.top / "build/collective/collective", self.COLLECTIVE)
        (self.top / "build/CMakeCache.txt").write_text(f"COMMCOST_MPIRUN_PROGRAM:FILEPATH={self.launcher.command[0]}\n")
        for name in ("cmake", "mpicc.of.nobody"):
            self.stand_in(name, "")
        self.suite.environment.update(MPICC="mpicc.of.nobody", RANKS="2")

    def quickstart(self, *words):
        done = call(["sh", self.top / "run_scripts/quickstart.sh", *words], cwd=self.top, env=self.suite.environment)
        assert done.returncode == 0, done.stderr
        return done

    def test_six_launches(self):
        """Of the essentials, with their options; then the scorecard, where the page and the table are, and how to start
        one program, in any folder."""
        done = self.quickstart("--output=results")
        assert "18 launches: 3 programs, each launched 6 times" in done.stderr
        assert len(self.suite_lines("options", "--essentials")) == 1
        *_, page, program = done.stdout.splitlines()
        assert page == "Page: results/report.html    Table: results/summary.tsv"
        write_program(self.top / "build/halo/halo", "#!/bin/sh\necho \"$0 $*\"\n")
        done_so = call(["sh", "-c", program.partition("One program: ")[2]], cwd="/", env=self.suite.environment)
        assert done_so.stdout == 2 * f"{self.top}/build/halo/halo --format=table\n", program + done_so.stderr
        for name in ("report.html", "report.md", "summary.tsv", "runs/6/collective.tsv"):
            assert (self.top / "results" / name).is_file(), name
        assert (done.stdout + done.stderr).count("report.html") == 1

    def test_checkup(self):
        """Its findings are a caveat; a job that doesn't start is explained first."""
        write_program(self.top / "build/checkup/checkup", "#!/bin/sh\necho 'error: no network' >&2\nexit 1\n")
        done = self.quickstart("--output=results")
        assert "no start: error: no network" in done.stdout.partition("Costs")[0]
        assert re.search("  no start: error: no network. Cost and remedies:\n.*run_scripts/checkup.sh'?\n",
                         done.stdout.partition("Caveats")[2]), done.stdout

    def test_calls_in_the_same_second(self):
        self.stand_in("date", "echo now\n")
        for name in ("now", "now-2"):
            assert f"Page: results/{name}/report.html" in self.quickstart().stdout

    def test_goes_on(self):
        """With the same folder, as begun or resumed, or by the suite's command."""
        self.quickstart("--output=results")
        for option in ("--output=results", "--resume=results"):
            os.remove(self.top / "results/runs/3/collective.tsv")
            assert "[ 7/18] run 3 of 6" in self.quickstart(option).stderr
        os.remove(self.top / "results/runs/4/collective.tsv")
        done = call(["sh", self.top / "run_scripts/run_suite.sh", "--resume=results"], cwd=self.top,
                    env=self.suite.environment)
        assert (done.returncode, "[10/18] run 4 of 6" in done.stderr) == (0, True), done.stderr

    @each("name, status", [("TERM", 1), ("INT", 1), ("USR1", 3)])
    def test_interrupted(self, name, status):
        """The command that makes the report, too, is pasted in another folder."""
        program = self.top / "build/collective/collective"
        program.write_text(self.COLLECTIVE.replace(
            "exec >", f'mkdir "$0.once" && {{ kill -{name} "$QUICKSTART"; sleep 1; }}\nexec >'))
        done = call(["sh", "-c", 'QUICKSTART=$$; export QUICKSTART; exec sh "$0" "$@"',
                     self.top / "run_scripts/quickstart.sh", "--output=results"], cwd=self.top,
                    env={**self.suite.environment, "MPICC": "mpicc.of.nobody", "RANKS": "2"})
        assert done.returncode == status, done.stderr
        told = done.stderr.partition("make the report: ")[2]
        done = call(["sh", "-c", told], cwd="/", env=self.suite.environment)
        assert done.returncode == 0 and f"Page: {self.top}/results/report.html" in done.stdout, told + done.stderr

    def test_all(self):
        assert "1 launch: one of each program" in self.quickstart("--all", "--output=results", "--ranks=3").stderr
        assert len(self.suite_lines("options", "--quick")) == len(self.suite_lines("options", "--ranks=3")) == 1
        os.remove(self.top / "results/runs/1/collective.tsv")
        assert "1 launch: one of each program, with 3 ranks" in self.quickstart("--resume=results").stderr

    def stand_in(self, name, text):
        """Makes a command that quickstart.sh finds before any other of this name."""
        write_program(self.suite.folder / "bin" / name, "#!/bin/sh\n" + text)

    def make_machine(self, **ranks):
        """Packages and MPI libraries of a made-up machine. `ranks`: by launcher, how many each of two processes finds."""
        self.log = self.suite.folder / "log"
        self.stand_in("cmake", f'echo "cmake $*" >>"{self.log}"\n')
        self.stand_in("apt-get", f'{{ echo "apt-get $*"; env; }} >>"{self.log}"\n')
        self.stand_in("dpkg-query", "exit 1\n")
        self.stand_in("id", "echo 1000\n")
        # As sudo by default.
        self.stand_in("sudo", 'exec env -i PATH="$PATH" HOME=/root "$@"\n')
        for name in ("mpicc.mpich", "mpicc.openmpi"):
            self.stand_in(name, 'echo >"$2" && chmod +x "$2"\n')
        for name, version in (("mpirun.mpich", "HYDRA build details:"), ("mpirun.openmpi", "mpirun (Open MPI) 4.1.4"),
                              ("prterun", "prterun (PRRTE) 3.0.2")):
            found = ranks.get(name.replace(".", "_"))
            self.stand_in(name, f"""case $1 in
--version) echo "{version}" ;;
*) {f"echo {found}; echo {found}" if found else "exit 1"} ;;
esac
""")
        del self.suite.environment["MPICC"]

    def calls(self, name):
        """The command lines with which a stand-in was called."""
        return re.findall(f"(?m)^{name} (.*)$", read(self.log))

    def build_tree(self, folder="b", wrapper="", status=0):
        """Builds as quickstart.sh does, with the user's wrapper, or none."""
        done = call(["sh", "-euc", '. "$1"; build_tree "$2"', self.top / "run_scripts/quickstart.sh",
                     self.top / "run_scripts/lib.sh", folder], cwd=self.top,
                    env={**self.suite.environment, "MPICC": wrapper})
        assert done.returncode == status, done.stderr
        return done

    def test_proxies(self):
        """apt-get has the caller's through sudo, and nobody reads their passwords."""
        self.make_machine(mpirun_mpich=2)
        proxies = {f"{name}_proxy": f"http://user:secret@{name}:1" for name in ("http", "https", "ftp")}
        proxies["no_proxy"] = "a,b"
        self.suite.environment.update(proxies)
        done = self.quickstart("--all", "--output=results")
        assert [line.split()[0] for line in self.calls("apt-get")] == ["update", "install"]
        for name, value in proxies.items():
            assert read(self.log).count(f"\n{name}={value}\n") == 2, name
        assert "secret" not in done.stdout + done.stderr + read(self.top / "build.log")

    @each("ranks, launcher, library, reason", [
        ({"mpirun_mpich": 2}, None, "mpich", None),
        ({"mpirun_mpich": None}, None, "mpich", None),
        ({"mpirun_mpich": 1, "prterun": 2, "mpirun_openmpi": 2}, "prterun", "mpich", "prterun is used"),
        ({"mpirun_mpich": 1, "mpirun_openmpi": 2}, "mpirun.openmpi", "mpich", "mpirun.openmpi is used"),
        ({"mpirun_mpich": 1, "mpirun_openmpi": 1}, None, "openmpi", "Open MPI is used")])
    def test_each_rank_is_a_job(self, ranks, launcher, library, reason):
        """As with Ubuntu 24.04's MPICH. What starts its ranks as one job is used, else Open MPI."""
        self.make_machine(**ranks)
        done = self.build_tree()
        bin_folder = self.suite.folder / "bin"
        configure = self.calls("cmake")[0] + " "
        assert f"-DMPI_C_COMPILER={bin_folder}/mpicc.{library} " in configure
        assert (f"-DCOMMCOST_MPIRUN_PROGRAM={bin_folder}/{launcher} " in configure if launcher else
                "COMMCOST_MPIRUN" not in configure)
        said = re.findall("mpirun.mpich starts each rank as a job of its own.*", done.stderr)
        assert [line.endswith(reason) for line in said] == [True] if reason else not said
        assert ("\napt-get install" in read(self.log)) == (library == "openmpi")

    def test_wrapper_of_the_user(self):
        """The user's own library isn't replaced by another one."""
        self.make_machine(mpirun_mpich=1)
        done = self.build_tree(wrapper="mpicc.mpich", status=1)
        assert "set MPICC to another library's wrapper" in done.stderr
        assert not self.log.exists()

    def test_build_folder(self):
        """A folder that was built with another library, or with what the wrapper's name led to before, is made again,
        unless the user made it."""
        self.make_machine(mpirun_mpich=2, mpirun_openmpi=2)
        name = self.suite.folder / "bin/mpicc"
        name.symlink_to("mpicc.mpich")
        self.build_tree("b", "mpicc")

        def is_kept(wrapper, folder="b"):
            """True if a file in the folder is still there when it is built."""
            os.makedirs(self.top / folder, exist_ok=True)
            (self.top / folder / "old").touch()
            self.build_tree(folder, wrapper)
            return (self.top / folder / "old").exists()

        assert is_kept("mpicc")
        assert not is_kept("mpicc.openmpi")
        assert not is_kept("mpicc")
        name.unlink()
        name.symlink_to("mpicc.openmpi")
        assert not is_kept("mpicc")
        assert is_kept("mpicc.mpich", "of the user") and is_kept("mpicc.openmpi", "of the user")

    def suite_lines(self, name, line):
        return [one for one in read(self.top / "results/suite" / name).splitlines() if one == line]


class Report(Case):
    """The page of merged files is that of the programs' own."""

    def test_runs(self):
        folder, said = self.folder / "a folder", {}
        header = "sync\tneighbours\tsync_us\tsync_lo_us\tsync_hi_us\tstatus\n"
        row = "barrier\tNA\t1.5\t1\t2\tok\n"
        for name, runs, text in (("one", 1, header + row), ("single", 1, f"run\t{header}1\t{row}"),
                                 ("two", 2, f"run\t{header}1\t{row}2\t{row}")):
            for run in range(runs):
                (folder / name / f"runs/{run + 1}").mkdir(parents=True)
            keys = " ".join(f"{key}=key" for key in (["run"] if text.startswith("run") else []) + ["sync", "neighbours"])
            (folder / name / "syncbench.tsv").write_text(
                f"# benchmark: syncbench\n# columns: {keys} sync_us=less sync_lo_us=info sync_hi_us=info status=info\n" +
                text)
            done = call(["sh", os.path.join(SCRIPTS, "report.sh"), folder / name])
            assert done.returncode == 0, done.stderr
            page = (folder / name / "report.html").read_text(encoding="utf-8")
            said[name] = re.search('(?s)<details id="syncbench">.*?</details>', page).group()
        cells = "<th>barrier</th><td>1.5</td><td>{}</td><td>NA</td><td>NA</td>{}<th>ok</th>"
        assert cells.format("1 to 2", "") in said["one"]
        assert said["one"] == said["single"]
        assert "medians over 2 launches" in said["two"]
        assert cells.format("1.5", "<td>2</td>") in said["two"]
