#!/usr/bin/env python3
"""run_suite.sh: the plan, the order of launches, resuming after it was killed at any
moment, failures, the budget, merged files; mostly with programs that only pretend, so
that what they do is known and soon done."""

import argparse
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import read, read_tsv  # noqa: E402
from processes import is_alive, wait_for  # noqa: E402
from run_tests import run_tests  # noqa: E402

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SUITE = os.path.join(TOP, "run_scripts", "run_suite.sh")

OPTIONS = None

# A benchmark that pretends: a row every --pause seconds, --rows of them, each with a
# word that no other row has. --fault says what goes wrong after the first row.
PROGRAM = r"""#!/bin/sh
output= rows=3 pause=0 fault=
for option in "$@"; do
    case $option in
    --output=*) output=${option#*=} ;;
    --rows=*) rows=${option#*=} ;;
    --pause=*) pause=${option#*=} ;;
    --fault=*) fault=${option#*=} ;;
    esac
done
echo "$(basename "$0") $$" >>"$STARTED"
exec >"$output"
word=$(basename "$0")-$$
echo "# benchmark: $(basename "$0")"
echo "# date: $(date +%s.%N)"
echo "# columns: key=key value=less word=info samples=info status=info"
printf 'key\tvalue\tword\tsamples\tstatus\n'
echo "# note: the same in all"
echo "# warning: of $$"
echo "# note: row 1: of it"
echo "# warning: row 1: of it"
trap 'echo "# warning: interrupted by SIGTERM"; exit 1' TERM
row=1
while [ "$row" -le "$rows" ]; do
    sleep "$pause"
    status=ok
    [ "$fault" != wrong ] && [ "$fault" != wrong_killed ] || status=FAIL
    printf '%d\t%d.5\t%s\t%s\t%s\n' "$row" "$row" "$word" 30 "$status"
    [ "$row" -gt 1 ] || case $fault in
        exit) echo "broken on purpose" >&2; exit 3 ;;
        once) [ -e "$STARTED.once" ] || { touch "$STARTED.once"; exit 3; } ;;
        killed | wrong_killed) kill -KILL $$ ;;
        signal) echo "# warning: interrupted by SIGUSR1"; exit 1 ;;
        status0) echo "# warning: interrupted by SIGUSR1"; exit 0 ;;
        nothing) rm "$output"; exit 0 ;;
    esac
    row=$((row + 1))
done
case $fault in
    end_killed) kill -KILL $$ ;;
    rows) rows=$((rows + 1)) ;;
esac
status=0
[ "$fault" != wrong ] || status=1
echo "# end: $rows rows, exit $status"
case $fault in
    finalize) trap 'exit 1' TERM; sleep 30 ;;
    finalize_killed) kill -KILL $$ ;;
esac
echo "ended $$" >>"$STARTED.ended"
exit "$status"
"""

# A launcher that pretends: shows what it was called with, then is the program.
LAUNCHER = r"""#!/bin/sh
case $1 in
--version) echo "VERSION"; exit ;;
esac
while [ "${1#/}" = "$1" ]; do shift; done
exec "$@"
"""

PROGRAMS = ["overlap/overlap_ibarrier", "overlap/overlap_ibcast",
            "msgrate/msgrate", "msgrate/msgrate_rma", "pingpong/pingpong",
            "syncbench/syncbench", "halo/halo", "mpi_overhead/mpi_overhead",
            "monitor/monitor_overhead"]


def write_program(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(path, 0o755)


def await_file(path):
    if not wait_for(lambda: os.path.exists(path), 10):
        raise AssertionError(f"no {path}")


class Folders(unittest.TestCase):
    """A build folder of pretending programs and a folder for results."""

    def setUp(self):
        # With a blank, since users have these, too.
        self.folder = os.path.join(tempfile.mkdtemp(), "a folder")
        self.build = os.path.join(self.folder, "build")
        self.results = os.path.join(self.folder, "results")
        for program in PROGRAMS:
            write_program(os.path.join(self.build, program), PROGRAM)
        for name, version in (("mpirun", "HYDRA build details:"),
                              ("orterun", "mpirun (Open MPI) 4.1.4"),
                              ("srun", "slurm 22.05.8"), ("other", "1.0")):
            write_program(os.path.join(self.folder, "bin", name),
                          LAUNCHER.replace("VERSION", version))
        self.environment = {
            **{name: value for name, value in os.environ.items()
               if not name.startswith(("SLURM_", "PBS_"))},
            "PATH": os.path.join(self.folder, "bin") + ":" + os.environ["PATH"],
            "STARTED": os.path.join(self.folder, "started")}

    def tearDown(self):
        shutil.rmtree(os.path.dirname(self.folder))

    def line(self, *options, launcher="orterun"):
        words = ["sh", SUITE]
        if not any(word.startswith("--resume") for word in options):
            words += [f"--build={self.build}", f"--output={self.results}"]
            if launcher:
                words.append(f"--launcher={launcher}")
        return words + list(options)

    def suite(self, *options, launcher="orterun", status=0, timeout_s=60):
        done = subprocess.run(self.line(*options, launcher=launcher),
                              env=self.environment, capture_output=True,
                              text=True, timeout=timeout_s, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def begin(self, *options):
        return subprocess.Popen(self.line(*options), env=self.environment,
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def plan(self, *options, launcher="orterun"):
        """The lines of a dry run: run, name, command."""
        lines = self.suite("--dry-run", *options,
                           launcher=launcher).stdout.splitlines()
        self.assertIn("about", lines[0])
        return [line.split("\t") for line in lines[1:]]

    def of_suite(self, name):
        return os.path.join(self.results, "suite", name)

    def launches(self):
        return read_tsv(read(self.of_suite("launches.tsv")))

    def started(self):
        """How often each program was started."""
        return collections.Counter(
            line.split()[0] for line in
            read(self.environment["STARTED"]).splitlines())

    def files(self):
        """Of each finished launch's file what changes when it is written again."""
        found = {}
        for folder, _, names in os.walk(os.path.join(self.results, "runs")):
            for name in names:
                if name.endswith(".tsv"):
                    path = os.path.join(folder, name)
                    status = os.stat(path)
                    found[path] = (status.st_ino, status.st_mtime_ns,
                                   read(path))
        return found

    def merged(self, name):
        return read_tsv(read(os.path.join(self.results, name + ".tsv")))

    def assert_rows(self, name, runs, rows=3):
        """Each run's rows once, in order, all of them from one launch."""
        found = self.merged(name)
        self.assertEqual([(row["run"], row["key"]) for row in found],
                         [(str(run), str(row)) for run in range(1, runs + 1)
                          for row in range(1, rows + 1)])
        words = {(row["run"], row["word"]) for row in found}
        self.assertEqual((len(words), len({word for _, word in words})),
                         (runs, runs))

    def assert_nothing_left(self):
        """No half results, nothing at work."""
        for folder, _, names in os.walk(self.results):
            for name in names:
                self.assertFalse(name.endswith((".part", ".new")),
                                 os.path.join(folder, name))
        for line in read(self.environment["STARTED"]).splitlines():
            self.assertFalse(is_alive(int(line.split()[1])), line)


class Plan(Folders):
    """What would run, and with which command lines."""

    def test_order(self):
        plan = self.plan("--benchmarks=pingpong,overlap,halo", "--runs=3")
        names = ["overlap_ibarrier", "overlap_ibcast", "overlap_ibcast_sweep",
                 "pingpong", "halo"]
        self.assertEqual([line[:2] for line in plan],
                         [[str(run), name] for run in (1, 2, 3)
                          for name in names])
        self.assertFalse(os.path.exists(self.results))

    def test_all(self):
        names = [line[1] for line in self.plan("--runs=1")]
        self.assertEqual(len(names), len(PROGRAMS) + 1)
        self.assertEqual(len(self.plan()), 5 * len(names))
        quick = self.plan("--quick")
        self.assertEqual([line[1] for line in quick], names)
        self.assertIn("--local=10,50,100", "".join(line[2] for line in quick))

    def test_groups_and_names(self):
        for choice, names in (("msgrate", ["msgrate"]),
                              ("rate", ["msgrate", "msgrate_rma"]),
                              ("monitor,halo", ["halo", "monitor_overhead"]),
                              ("overlap_ibcast", ["overlap_ibcast"])):
            self.assertEqual([line[1] for line in self.plan(
                "--runs=1", "--benchmarks=" + choice)], names)

    def test_peers(self):
        for ranks, peers in ((2, 1), (4, 3), (7, 6), (32, 6)):
            for line in self.plan("--benchmarks=rate", f"--ranks={ranks}"):
                self.assertIn(f"--peers={peers} ", line[2])
                self.assertIn(f"-np {ranks} ", line[2])

    def system(self, cores, allowed, groups=None, membership="0::/\n", name="core_cpus_list"):
        """A made-up system: the lists of each processor's core (None: offline), the processors that a process
        may use, files of control groups."""
        root = tempfile.mkdtemp(dir=self.folder)
        files = {"proc/self/status": f"Name:\tawk\nCpus_allowed:\tff\nCpus_allowed_list:\t{allowed}\n",
                 "proc/self/cgroup": membership}
        for processor, core in enumerate(cores):
            folder = f"sys/devices/system/cpu/cpu{processor}/"
            files.update({folder + "online": "0\n"} if core is None else {folder + "topology/" + name: core + "\n"})
        files.update({"sys/fs/cgroup/" + path: text for path, text in (groups or {}).items()})
        for path, text in files.items():
            path = os.path.join(root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as stream:
                stream.write(text)
        return root

    def ranks_on(self, *system, **more):
        self.environment["COMMCOST_SYSTEM"] = self.system(*system, **more)
        return int(re.search(r"-np (\d+)$", self.launch("mpirun")).group(1))

    def test_ranks_are_cores(self):
        alone = [str(i) for i in range(6)]
        threads = ["0,4", "1,5", "2,6", "3,7"] * 2
        self.assertEqual(self.ranks_on(alone, "0-5"), 6)
        self.assertEqual(self.ranks_on([str(i) for i in range(64)], "0-63"), 8)
        self.assertEqual(self.ranks_on(threads, "0-7"), 4)
        self.assertEqual(self.ranks_on(["0-1", "0-1", "2-3", "2-3", "4-5", "4-5"], "0-5"), 3)
        self.assertEqual(self.ranks_on(threads, "0-7", name="thread_siblings_list"), 4)
        # What this process may use; offline ones may be among them.
        self.assertEqual(self.ranks_on(threads, "0-2,4,6"), 3)
        self.assertEqual(self.ranks_on(threads, "1-3,5-7"), 3)
        self.assertEqual(self.ranks_on(["0"], "0"), 2)
        self.assertEqual(self.ranks_on(threads, "0,4"), 2)
        self.assertEqual(self.ranks_on(["0", None, "2,6", "3", None, None, "2,6"], "0-127"), 3)
        # A system that doesn't tell.
        processors = min(max(os.sysconf("SC_NPROCESSORS_ONLN"), 2), 8)
        self.assertEqual(self.ranks_on([None] * 4, "0-3"), processors)
        self.assertEqual(self.ranks_on([], "what"), processors)
        # Nothing but a default.
        self.environment["COMMCOST_SYSTEM"] = self.system(threads, "0-7")
        self.assertTrue(self.launch("mpirun", "--ranks=7").endswith("-np 7"))

    def test_ranks_in_a_slurm_job(self):
        self.environment.update(SLURM_JOB_ID="7", SLURM_JOB_NUM_NODES="3", SLURM_CPUS_ON_NODE="8")
        threads = ["0,4", "1,5", "2,6", "3,7"] * 2
        self.environment["COMMCOST_SYSTEM"] = self.system(threads, "0-7")
        # Where the suite doesn't run on a node of the job nothing is known of its cores.
        self.assertIn("--ntasks=24", self.launch(""))
        self.environment["SLURMD_NODENAME"] = "a"
        self.assertIn("--ntasks=12", self.launch(""))
        self.environment["SLURM_CPUS_ON_NODE"] = "2"
        self.assertIn("--ntasks=6", self.launch(""))

    def test_ranks_by_quota(self):
        eight = [str(i) for i in range(8)]
        for processors, ranks in ((100, 8), (4, 4), (3.9, 3), (2, 2), (0.5, 2)):
            quota = f"{processors * 1e5:.0f}"
            for membership, files in (
                    ("0::/\n", {"cpu.max": f"{quota} 100000\n"}),
                    ("0::/a/b/c\n", {"a/cpu.max": f"{quota} 100000\n", "a/b/cpu.max": "max 100000\n"}),
                    ("0::/a/b\n", {"a/cpu.max": "900000 100000\n", "a/b/cpu.max": f"{quota} 100000\n"}),
                    ("1:name=systemd:/x\n0::/a\n", {"unified/a/cpu.max": f"{quota} 100000\n"}),
                    ("4:memory:/m\n3:cpu,cpuacct:/a/b\n0::/\n",
                     {"cpu,cpuacct/a/cpu.cfs_quota_us": quota, "cpu,cpuacct/a/cpu.cfs_period_us": "100000\n",
                      "cpu,cpuacct/a/b/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/a/b/cpu.cfs_period_us": "100000\n"}),
                    ("3:cpu:/\n", {"cpu/cpu.cfs_quota_us": quota, "cpu/cpu.cfs_period_us": "100000\n"})):
                with self.subTest(processors=processors, membership=membership):
                    self.assertEqual(self.ranks_on(eight, "0-7", files, membership), ranks)
        for odd in ("", "max\n", "x y\n", "0 100000\n", "-5 100000\n", "100000 0\n"):
            self.assertEqual(self.ranks_on(eight, "0-7", {"cpu.max": odd}), 8)
        # Of cores, not of their hardware threads.
        self.assertEqual(self.ranks_on(["0,2", "1,3"] * 2, "0-3", {"cpu.max": "300000 100000\n"}), 2)

    def test_options(self):
        plan = {line[1]: line[2] for line in self.plan(
            "--runs=1", "--options=all: --max-time=0.5 --x",
            "--options=halo: --local=7", "--options=msgrate: --y")}
        for name, command in plan.items():
            self.assertIn("--max-time=0.5 --x", command)
            self.assertEqual("--local=7" in command, name == "halo")
            self.assertEqual("--y" in command, name == "msgrate")

    def launch(self, launcher, *options, name="halo"):
        """What stands before the program."""
        for line in self.plan("--runs=1", *options, launcher=launcher):
            if line[1] == name:
                return line[2].split(" '")[0]
        return None

    def test_launchers(self):
        job = ["--ranks=8", "--ranks-per-node=4", "--hosts=a,b", "--bind=core"]
        allow = "--allow-run-as-root " if os.geteuid() == 0 else ""
        for launcher, all_ranks, pair in (
                ("mpirun", "mpirun -np 8 -ppn 4 -hosts a,b -bind-to core",
                 "mpirun -np 2 -ppn 1 -hosts a,b -bind-to core"),
                ("orterun",
                 f"orterun {allow}-np 8 --map-by ppr:4:node --host a:4,b:4 "
                 "--bind-to core",
                 f"orterun {allow}-np 2 --map-by ppr:1:node --host a:4,b:4 "
                 "--bind-to core"),
                ("srun --mpi=pmi2",
                 "srun --mpi=pmi2 --kill-on-bad-exit=1 --ntasks=8 --nodes=2 --ntasks-per-node=4 "
                 "--nodelist=a,b --cpu-bind=cores",
                 "srun --mpi=pmi2 --kill-on-bad-exit=1 --ntasks=2 --nodes=2 "
                 "--ntasks-per-node=1 --nodelist=a,b --cpu-bind=cores"),
                ("other -n {ranks} -N {ranks_per_node} -L {hosts} -b {bind} "
                 "-o {nodes}", "other -n 8 -N 4 -L a,b -b core -o 2",
                 "other -n 2 -N 1 -L a,b -b core -o 2")):
            self.assertEqual(self.launch(launcher, *job), all_ranks)
            self.assertEqual(self.launch(launcher, *job, name="mpi_overhead"),
                             pair)
        # Ranks are spread over the hosts, however many a host could have.
        self.assertEqual(self.launch("orterun", "--ranks=7", "--hosts=a,b"),
                         f"orterun {allow}-np 7 --host a:4,b:4")
        self.assertEqual(self.launch("mpirun", "--ranks=7", "--hosts=a,b"),
                         "mpirun -np 7 -ppn 4 -hosts a,b")
        self.assertEqual(self.launch("mpirun", "--ranks=3"), "mpirun -np 3")
        self.assertEqual(self.launch("srun", "--ranks=3"),
                         "srun --kill-on-bad-exit=1 --ntasks=3")
        for word in ("-K0", "--kill-on-bad-exit=0"):
            self.assertEqual(self.launch("srun " + word, "--ranks=3"),
                             f"srun {word} --ntasks=3")

    def test_jobs(self):
        """What a scheduler says of the job."""
        self.environment.update(SLURM_JOB_ID="7", SLURM_NTASKS="12",
                                SLURM_JOB_NUM_NODES="3")
        kill = "srun --kill-on-bad-exit=1 "
        self.assertEqual(self.launch(""), kill + "--ntasks=12")
        self.assertEqual(self.launch("", name="mpi_overhead"),
                         kill + "--ntasks=2 --nodes=2 --ntasks-per-node=1")
        # Where srun can't start the library's ranks another launcher has the job's nodes.
        self.assertEqual(self.launch("mpirun"), "mpirun -np 12")
        self.assertEqual(self.launch("mpirun", name="mpi_overhead"),
                         "mpirun -np 2 -ppn 1")
        self.assertEqual(self.launch("sh -n {ranks} -d {nodes}"), "sh -n 12 -d 3")
        del self.environment["SLURM_NTASKS"]
        self.assertEqual(self.launch("", "--ranks-per-node=5"),
                         kill + "--ntasks=15 --nodes=3 --ntasks-per-node=5")
        for name in ("SLURM_JOB_ID", "SLURM_JOB_NUM_NODES"):
            del self.environment[name]
        nodes = os.path.join(self.folder, "nodes")
        with open(nodes, "w", encoding="utf-8") as stream:
            stream.write("a\na\nb\nb\n")
        self.environment["PBS_NODEFILE"] = nodes
        self.assertEqual(self.launch("mpirun"), "mpirun -np 4")
        self.assertEqual(self.launch("mpirun", name="mpi_overhead"),
                         "mpirun -np 2 -ppn 1")

    def test_usage(self):
        for options, named in (
                (["--benchmarks=pingpong,foo"], "foo"),
                (["--benchmarks="], "--benchmarks"), (["--runs=0"], "--runs"),
                (["--runs=many"], "--runs"), (["--ranks=1"], "--ranks"),
                (["--budget=soon"], "--budget"), (["--limit=x"], "--limit"),
                (["--limit=0"], "--limit"),
                (["--foo"], "--foo"),
                (["extra"], "extra"), (["--options=--x"], "--options"),
                (["--options=foo: --x"], "foo"), (["--runs"], "--runs"),
                (["--options=halo: --output=x"], "--output"),
                (["--options=halo: --no-header"], "--no-header"),
                (["--options=halo: --x --no-metadata"], "--no-metadata"),
                (["--options=mpi_overhead: --nohdr"], "--nohdr"),
                (["--options=halo: --ou=x"], "--output"),
                (["--options=halo: --f table"], "--format"),
                (["--options=mpi_overhead: --both -n"], "header"),
                (["--options=msgrate: -o"], "header"),
                (["--build=/no/such"], "--build"),
                (["--launcher=other -n"], "{ranks}"),
                (["--resume=/no/such"], "--resume"),
                (["--resume"], "--resume"), (["--quick=no"], "--quick")):
            done = self.suite(*options, status=2)
            self.assertIn(named, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        done = self.suite("--launcher=/no/such", status=1)
        self.assertIn("/no/such", done.stderr)
        os.remove(os.path.join(self.build, "halo/halo"))
        self.assertIn("halo", self.suite("--benchmarks=halo",
                                         status=1).stderr)
        self.assertIn("--budget", self.suite("--help").stdout)


class Results(Folders):
    """What a suite leaves."""

    def test_interleaved(self):
        done = self.suite("--benchmarks=overlap_ibarrier,pingpong,halo",
                          "--runs=4")
        names = ["overlap_ibarrier", "pingpong", "halo"]
        self.assertEqual([(row["run"], row["name"], row["result"])
                          for row in self.launches()],
                         [(str(run), name, "done") for run in range(1, 5)
                          for name in names])
        dates = []
        for run in range(1, 5):
            for name in names:
                text = read(f"{self.results}/runs/{run}/{name}.tsv")
                dates.append(float(re.search("# date: (.*)", text).group(1)))
        self.assertEqual(dates, sorted(dates))
        for name in names:
            self.assert_rows(name, 4)
        self.assert_nothing_left()
        self.assertIn("[12/12] run 4 of 4: halo", done.stderr)
        self.assertIn("left", done.stderr)

    def test_merged_file(self):
        self.suite("--benchmarks=halo", "--runs=3")
        text = read(self.results + "/halo.tsv")
        first = read(self.results + "/runs/1/halo.tsv").splitlines()
        self.assertEqual(text.count("# date: "), 1)
        self.assertIn(first[1] + "\n", text)
        self.assertIn("# columns: run=key key=key value=less", text)
        self.assertIn("\nrun\tkey\tvalue\tword\tsamples\tstatus\n", text)
        # What is the same in all is there once, what isn't is there of each.
        self.assertEqual(text.count("the same in all"), 1)
        self.assertEqual(len(re.findall("# warning: of [0-9]", text)), 1)
        self.assertEqual(re.findall("# warning: (run [0-9]): of", text),
                         ["run 2", "run 3"])
        # What is said of a row is there of each run's.
        for word in ("note", "warning"):
            self.assertEqual(re.findall(f"# {word}: (.*)row 1: of it", text),
                             ["", "run 2: ", "run 3: "])
        self.assertEqual(text.count("# end: "), 1)
        self.assertTrue(text.endswith("\n# end: 9 rows, exit 0\n"), text)
        # Another header can't be merged with this one.
        other = self.results + "/runs/2/halo.tsv"
        with open(other, encoding="utf-8") as stream:
            changed = stream.read().replace("value", "wert")
        with open(other, "w", encoding="utf-8") as stream:
            stream.write(changed)
        self.assertIn("other columns", self.suite(
            "--benchmarks=halo", "--runs=3", status=1).stderr)
        self.assertEqual(read(self.results + "/halo.tsv"), text)

    def test_load(self):
        """In pandas and R."""
        self.suite("--benchmarks=halo", "--runs=3")
        self.assertEqual(load(self.results + "/halo.tsv"), ["9 6 6 13.5"] * 2)

    def test_run_again(self):
        self.environment["UCX_TLS"] = "it's \"self\"\nand tcp"
        self.environment["UCX_SECRET_KEY"] = "hidden"
        self.suite("--benchmarks=halo,pingpong", "--runs=2",
                   "--options=halo: --rows=5")
        for name in ("versions", "environment", "environment_of_site", "hosts",
                     "system", "plan.tsv", "options", "calls", "lscpu.txt"):
            self.assertTrue(os.path.getsize(self.of_suite(name)), name)
        self.assertNotIn("hidden", read(self.of_suite("environment")))
        self.assertIn("halo/halo", read(self.of_suite("versions")))
        self.assertIn("PATH=", read(self.of_suite("environment_of_site")))
        said = subprocess.run(
            ["sh", "-c", ". \"$0\"; printf %s \"$UCX_TLS\"",
             self.of_suite("environment")], env={"PATH": os.environ["PATH"]},
            capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, self.environment["UCX_TLS"])
        plan = read(self.of_suite("plan.tsv"))
        again = self.of_suite("run_again.sh")
        self.results = os.path.join(self.folder, "once more")
        subprocess.run(["sh", again, self.results], env=self.environment,
                       check=True, capture_output=True)
        self.assertEqual(read(self.of_suite("plan.tsv")), plan)
        self.assert_rows("halo", 2, rows=5)
        # More runs are run again, too; the budget was for one call.
        self.suite("--benchmarks=halo,pingpong", "--runs=3",
                   "--options=halo: --rows=5", "--budget=1h")
        again = read(self.of_suite("run_again.sh"))
        self.assertIn("--runs=3", again)
        self.assertNotIn("--budget", again)


def load(path):
    """What pandas and R make of a merged file with the columns run and value:
    rows, columns, sum of runs in the first two, sum of values."""
    python = shutil.which("python3", path="/usr/bin") or sys.executable
    pandas = ("import sys, pandas; "
              "t = pandas.read_csv(sys.argv[1], sep='\\t', comment='#'); "
              "print(len(t), len(t.columns), t[t.run < 3].run.nunique() * 3, "
              "t[t.run == 3].value.sum() + t[t.run < 3].value.sum() * 0 + "
              "6.0)")
    r = ("t <- read.delim(commandArgs(TRUE)[1], comment.char = '#'); "
         "cat(nrow(t), ncol(t), length(unique(t$run[t$run < 3])) * 3, "
         "sum(t$value[t$run == 3]) + 6)")
    results = []
    for words in ([python, "-c", pandas, path], ["Rscript", "-e", r, path]):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        results.append(done.stdout.strip() or done.stderr)
    return results


class Resume(Folders):
    """Killed at any moment, the suite goes on where it was: no launch that was
    finished is made again, no row is lost or there twice."""

    CHOICE = ["--benchmarks=overlap_ibarrier,pingpong,halo", "--runs=3",
              "--options=all: --rows=4 --pause=0.04"]
    NAMES = ["overlap_ibarrier", "pingpong", "halo"]

    def kill_at(self, wait_s, what, started=False):
        """Begins the suite, and kills it so much later, or after a program started. With `what` the launch is
        killed with it, else it is left behind."""
        process = self.begin(*self.CHOICE)
        if started:
            await_file(self.environment["STARTED"])
        time.sleep(wait_s)
        if what == "all":
            try:
                running = read(self.of_suite("running")).split()
                os.kill(process.pid, signal.SIGKILL)
                os.killpg(int(running[1]), signal.SIGKILL)
            except (OSError, IndexError):
                pass
        process.kill()
        process.wait()
        process.stderr.close()

    def check(self, before, **how):
        done = self.suite(*how.get("options", self.CHOICE))
        after = self.files()
        for path, was in before.items():
            self.assertEqual(after[path], was)
        self.assertEqual(len(after), 9)
        for name in self.NAMES:
            self.assert_rows(name, 3, rows=4)
        self.assert_nothing_left()
        return done

    def test_killed_at_random(self):
        chance = random.Random(7)
        for trial in range(3):
            with self.subTest(trial=trial):
                shutil.rmtree(self.results, ignore_errors=True)
                kills = 0
                for _ in range(3):
                    before = self.files()
                    self.kill_at(chance.uniform(0.1, 0.9),
                                 "all" if trial % 2 else "suite")
                    kills += 1
                    for path, was in before.items():
                        self.assertEqual(self.files()[path], was)
                # What was left behind may yet start its program.
                self.environment["STARTED"] = os.path.join(self.folder,
                                                           f"started {trial}")
                before = self.files()
                self.check(before)
                # Only what was missing was measured.
                self.assertEqual(sum(self.started().values()),
                                 9 - len(before))

    def test_left_behind(self):
        """The launch that a killed suite left is ended before the next begins."""
        self.CHOICE = ["--benchmarks=halo", "--runs=1",
                       "--options=all: --rows=4 --pause=0.5"]
        self.kill_at(0.2, "suite", started=True)
        left = int(read(self.environment["STARTED"]).split()[1])
        self.assertTrue(is_alive(left))
        done = self.suite(*self.CHOICE)
        self.assertIn("Ending process", done.stderr)
        self.assertFalse(is_alive(left))
        self.assertNotIn(f"ended {left}\n",
                         read(self.environment["STARTED"] + ".ended"))
        self.assert_rows("halo", 1, rows=4)
        self.assert_nothing_left()

    def stopped(self, number):
        process = self.begin(*self.CHOICE)
        await_file(self.results + "/runs/1/overlap_ibarrier.tsv")
        time.sleep(0.2)
        before_s = time.monotonic()
        process.send_signal(number)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 1, said)
        self.assertLess(time.monotonic() - before_s, 5.0)
        self.assertIn("To go on: run_suite.sh --resume=", said)
        self.assertIn(signal.Signals(number).name, said)
        self.assert_nothing_left()
        return said

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP,
                       signal.SIGUSR1):
            with self.subTest(signal=number):
                shutil.rmtree(self.results, ignore_errors=True)
                self.stopped(number)
                before = self.files()
                self.assertTrue(before)
                # What there is is merged.
                self.assertTrue(self.merged(self.NAMES[0]))
                # USR1 lets the launch in hand end by itself; the others may
                # come when there is none.
                lost = sum(self.started().values()) - len(before)
                self.assertIn(lost, (0,) if number == signal.SIGUSR1 else (0, 1))
                self.check(before, options=[f"--resume={self.results}"])
                os.remove(self.environment["STARTED"])

    def test_ranks_outlive_their_launcher(self):
        """Open MPI's have process groups of their own. A launch that is ended, by a signal
        or by --limit, is over when they are."""
        path = self.environment["STARTED"] + ".rank"
        write_program(os.path.join(self.folder, "bin", "orterun"), LAUNCHER.replace(
            "VERSION", "mpirun (Open MPI) 4.1.4").replace('exec "$@"', f"""
python3 -c 'import os, sys, time
os.setpgid(0, 0)
with open(sys.argv[1] + ".part", "w") as stream:
    stream.write(str(os.getpid()))
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(60)' "{path}" &
exec "$@" """))
        choice = ["--benchmarks=halo", "--runs=1", "--options=all: --pause=30"]
        for limit in ([], ["--limit=1"]):
            with self.subTest(limit=limit):
                process = self.begin(*choice, *limit)
                await_file(path)
                if not limit:
                    process.send_signal(signal.SIGTERM)
                said = process.communicate(timeout=30)[1]
                self.assertEqual(process.returncode, 1, said)
                self.assertFalse(is_alive(int(read(path))), said)
                os.remove(path)
                shutil.rmtree(self.results)

    def test_signal_at_the_end(self):
        """One that comes in the last launch leaves nothing out."""
        process = self.begin("--benchmarks=halo", "--runs=1",
                             "--options=all: --pause=0.4")
        await_file(self.results + "/runs/1/halo.tsv.part")
        process.send_signal(signal.SIGUSR1)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("1 of 1 launches have their result", said)
        self.assertTrue(os.path.exists(self.of_suite("complete")))

    def test_interrupted_program(self):
        """A scheduler may warn the programs alone."""
        for fault in ("signal", "status0"):
            shutil.rmtree(self.results, ignore_errors=True)
            done = self.suite("--benchmarks=pingpong,halo", "--runs=2",
                              f"--options=halo: --fault={fault}", status=1)
            self.assertIn("To go on", done.stderr)
            self.assertEqual([os.path.basename(path) for path in self.files()],
                             ["pingpong.tsv"])

    def test_half_a_record(self):
        """A full disk cuts off a record; the next doesn't continue it."""
        choice = ["--benchmarks=halo,pingpong", "--runs=2"]
        self.suite(*choice)
        records = read(self.of_suite("launches.tsv"))
        with open(self.of_suite("launches.tsv"), "w", encoding="utf-8") as stream:
            stream.write(records[:-12])
        os.remove(self.results + "/runs/2/halo.tsv")
        done = self.suite(*choice)
        self.assertIn("4 of 4 launches", done.stderr)
        self.assertEqual([(row["run"], row["name"], row["result"])
                          for row in self.launches()],
                         [("1", "pingpong", "done"), ("1", "halo", "done"),
                          ("2", "pingpong", "done"), ("2", "halo", "done")])

    def test_other_plan(self):
        self.suite("--benchmarks=halo,pingpong", "--runs=2")
        before = self.files()
        for other in (["--benchmarks=halo", "--runs=2"],
                      ["--benchmarks=halo,pingpong", "--runs=1"],
                      ["--benchmarks=halo,pingpong", "--runs=2", "--ranks=4"],
                      ["--benchmarks=halo,pingpong", "--runs=2",
                       "--options=halo: --rows=4"]):
            done = self.suite(*other, status=1)
            self.assertIn("another plan", done.stderr)
        self.assertEqual(self.files(), before)
        with open(os.path.join(self.build, "halo/halo"), "a",
                  encoding="utf-8") as stream:
            stream.write("# changed\n")
        done = self.suite("--benchmarks=halo,pingpong", "--runs=2", status=1)
        self.assertIn("other programs", done.stderr)
        self.assertEqual(self.files(), before)
        # A folder with something else in it isn't for a suite.
        self.results = os.path.join(self.folder, "else")
        os.mkdir(self.results)
        with open(self.results + "/mine.tsv", "w", encoding="utf-8"):
            pass
        self.assertIn("something else", self.suite(status=1).stderr)

    def test_more_runs(self):
        self.suite("--benchmarks=halo,pingpong", "--runs=1")
        before = self.files()
        self.suite("--benchmarks=halo,pingpong", "--runs=3")
        for path, was in before.items():
            self.assertEqual(self.files()[path], was)
        self.assert_rows("halo", 3)
        self.assert_rows("pingpong", 3)
        self.assertEqual(self.started(), {"halo": 3, "pingpong": 3})

    def test_one_at_a_time(self):
        choice = ["--benchmarks=halo", "--runs=1",
                  "--options=all: --rows=3 --pause=1.5"]
        process = self.begin(*choice)
        await_file(self.environment["STARTED"])
        done = self.suite(*choice, status=1)
        self.assertIn("another run_suite.sh", done.stderr)
        self.assertEqual(process.wait(20), 0)
        process.stderr.close()
        self.assert_rows("halo", 1)


    def test_retry_that_is_interrupted(self):
        """Each launch has a record, but what failed isn't done yet."""
        choice = ["--benchmarks=pingpong,halo", "--runs=1",
                  "--options=all: --rows=4 --pause=0.5",
                  "--options=pingpong: --fault=once"]
        self.suite(*choice, status=1)
        for number in (signal.SIGINT, signal.SIGTERM):
            self.environment["STARTED"] += " again"
            with open(self.environment["STARTED"] + ".once", "w", encoding="utf-8"):
                pass
            process = self.begin(f"--resume={self.results}")
            await_file(self.environment["STARTED"])
            process.send_signal(number)
            said = process.communicate(timeout=20)[1]
            self.assertEqual(process.returncode, 1, said)
            self.assertIn(f"Ended by {number.name}", said)
            self.assertFalse(os.path.exists(self.of_suite("complete")))
        done = self.suite(f"--resume={self.results}")
        self.assertIn("2 of 2 launches have their result", done.stderr)
        self.assertTrue(os.path.exists(self.of_suite("complete")))


class Failures(Folders):
    """A launch that fails is recorded, the suite goes on, and its exit status is 1."""

    def failing(self, fault, result, rows, exits):
        shutil.rmtree(self.results, ignore_errors=True)
        done = self.suite("--benchmarks=pingpong,halo", "--runs=2",
                          f"--options=pingpong: --fault={fault}", status=1)
        self.assertEqual([(row["name"], row["result"], row["exit"])
                          for row in self.launches()],
                         [("pingpong", result, exits), ("halo", "done", "0")] *
                         2)
        self.assert_rows("halo", 2)
        self.assertEqual(os.path.exists(self.results + "/pingpong.tsv"),
                         rows > 0)
        if rows:
            self.assert_rows("pingpong", 2, rows)
        self.assert_nothing_left()
        self.assertIn("pingpong (run 1) pingpong (run 2)", done.stderr)
        return done

    def test_exit(self):
        done = self.failing("exit", "failed", 0, "3")
        self.assertIn("broken on purpose", done.stderr)
        kept = read(self.results + "/runs/1/pingpong.tsv.failed")
        self.assertEqual(len(read_tsv(kept)), 1)

    def test_killed(self):
        self.failing("killed", "failed", 0, "137")

    def test_killed_after_wrong_data(self):
        """Rows with FAIL don't make a launch whole."""
        self.failing("wrong_killed", "failed", 0, "137")

    def test_killed_before_the_end(self):
        """All rows are there, but nobody knows."""
        self.failing("end_killed", "failed", 0, "137")

    def test_rows_are_missing(self):
        """Fewer than the end says."""
        self.failing("rows", "failed", 0, "0")

    def test_no_result(self):
        self.failing("nothing", "failed", 0, "0")

    def ends_late(self, fault, status):
        """The result is complete, whatever happens then: it counts, and isn't
        measured again."""
        done = self.suite("--benchmarks=pingpong,halo", "--runs=1", "--limit=1",
                          f"--options=pingpong: --fault={fault}")
        self.assertIn("pingpong: the result is complete and counts, but the "
                      f"launch then ended with exit status {status}", done.stderr)
        self.assertEqual([(row["name"], row["result"], row["exit"])
                          for row in self.launches()],
                         [("pingpong", "done", status), ("halo", "done", "0")])
        self.assert_rows("pingpong", 1)
        self.assert_nothing_left()
        self.suite(f"--resume={self.results}")
        self.assertEqual(self.started(), {"pingpong": 1, "halo": 1})

    def test_finalize_hangs(self):
        self.ends_late("finalize", "124")

    def test_finalize_is_killed(self):
        self.ends_late("finalize_killed", "137")

    def test_wrong_data(self):
        """All rows are there, so the launch isn't made again; 1 all the same."""
        self.failing("wrong", "wrong", 3, "1")
        before = self.files()
        self.suite(f"--resume={self.results}", status=1)
        self.assertEqual(self.files(), before)

    def test_hangs(self):
        """A launch that doesn't end is ended."""
        done = self.suite("--benchmarks=pingpong,halo", "--runs=1", "--limit=1",
                          "--options=pingpong: --pause=30", status=1)
        self.assertIn("pingpong took longer than 1 s", done.stderr)
        self.assertEqual([(row["name"], row["result"])
                          for row in self.launches()],
                         [("pingpong", "failed"), ("halo", "done")])
        self.assert_nothing_left()

    def test_tried_again(self):
        choice = ["--benchmarks=pingpong,halo", "--runs=2",
                  "--options=pingpong: --fault=once"]
        self.suite(*choice, status=1)
        before = self.files()
        self.assertEqual(len(before), 3)
        self.suite(*choice)
        for path, was in before.items():
            self.assertEqual(self.files()[path], was)
        self.assert_rows("pingpong", 2)
        self.assertFalse(os.path.exists(
            self.results + "/runs/1/pingpong.tsv.failed"))


class Disk(Folders):
    """No space, and a folder that goes away: the suite says so and ends, and goes on
    when it can. To be run in a mount namespace of its own (unshare --mount)."""

    CHOICE = ["--benchmarks=pingpong,halo", "--options=all: --rows=40"]

    def small(self, kibibytes):
        """The folder of the results in a file system of that size."""
        os.makedirs(self.results)
        made = subprocess.run(["mount", "-t", "tmpfs", "-o",
                               f"size={kibibytes}k", "tmpfs", self.results],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest("can't mount here: " + made.stderr.strip())

    def tearDown(self):
        subprocess.run(["umount", self.results], capture_output=True,
                       check=False)
        super().tearDown()

    def leave(self, kibibytes):
        """Fills the file system but for so much."""
        ballast = os.path.join(self.results, "ballast")
        status = os.statvfs(self.results)
        size = status.f_bavail * status.f_frsize - kibibytes * 1024
        with open(ballast, "wb") as stream:
            stream.write(b"x" * max(size, 0))
        return ballast

    def test_full(self):
        """Whatever space there is left: nothing is lost or there twice."""
        for left in (0, 4, 8, 12, 16, 24, 32, 48) if OPTIONS.full else (4, 16):
            with self.subTest(left=left):
                self.small(1024)
                self.suite(*self.CHOICE, "--runs=1")
                ballast = self.leave(left)
                before = self.files()
                done = subprocess.run(self.line(*self.CHOICE, "--runs=4"),
                                      env=self.environment, text=True,
                                      capture_output=True, timeout=60,
                                      check=False, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, "cannot write in .*no space|"
                                 "Failed: |Could not put together")
                os.remove(ballast)
                for path, was in before.items():
                    self.assertEqual(self.files()[path], was)
                before = self.files()
                self.suite(*self.CHOICE, "--runs=4")
                for path, was in before.items():
                    self.assertEqual(self.files()[path], was)
                for name in ("pingpong", "halo"):
                    self.assert_rows(name, 4, rows=40)
                self.assertEqual({row["result"] for row in self.launches()[-1:]},
                                 {"done"})
                self.assert_nothing_left()
                subprocess.run(["umount", self.results], check=True)
                os.rmdir(self.results)

    def test_full_from_the_start(self):
        self.small(1024)
        ballast = self.leave(0)
        os.rename(ballast, os.path.join(self.results, "other.txt"))
        done = self.suite(*self.CHOICE, "--runs=1", status=1)
        self.assertIn("run_suite.sh: cannot write in", done.stderr)
        os.remove(os.path.join(self.results, "other.txt"))
        self.suite(*self.CHOICE, "--runs=1")
        self.assert_rows("halo", 1, rows=40)

    def test_removed(self):
        process = self.begin("--benchmarks=pingpong,halo", "--runs=9",
                             "--options=all: --rows=4 --pause=0.1")
        await_file(self.results + "/runs/1/pingpong.tsv")
        for _ in range(20):
            # The suite may be making a file in it.
            shutil.rmtree(self.results, ignore_errors=True)
            if not os.path.exists(self.results):
                break
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("it was removed", said)
        self.assertFalse(os.path.exists(self.results))


class Budget(Folders):
    """The whole ends in time, and no launch has half its rows."""

    def test_not_started(self):
        choice = ["--benchmarks=pingpong,halo", "--runs=9",
                  "--options=all: --rows=2 --pause=0.4 --max-time=0.01",
                  "--budget=4"]
        before_s = time.monotonic()
        done = self.suite(*choice)
        self.assertLess(time.monotonic() - before_s, 5.0)
        self.assertIn("budget is used up", done.stderr)
        files = self.files()
        self.assertGreaterEqual(len(files), 2, done.stderr)
        self.assertLessEqual(len(files), 5)
        self.assert_nothing_left()
        # The next call has a budget of its own.
        self.suite(*choice)
        self.assertGreater(len(self.files()), len(files))

    def test_ended(self):
        """A launch that takes longer than could be known; no result, so 1."""
        before_s = time.monotonic()
        done = self.suite("--benchmarks=halo", "--runs=3", "--budget=2",
                          "--options=all: --rows=40 --pause=0.5 --max-time=0.01",
                          status=1)
        self.assertLess(time.monotonic() - before_s, 5.0)
        self.assertIn("budget is used up", done.stderr)
        self.assertEqual(self.files(), {})
        self.assert_nothing_left()


class Report(Folders):
    """report_text.sh of merged files is that of the programs' own."""

    def test_runs(self):
        script = os.path.join(TOP, "run_scripts", "report_text.sh")
        source = os.path.join(self.folder, "one")
        os.mkdir(source)
        rows = ("# date: x\nsync\tneighbours\tsync_us\tsync_lo_us\tsync_hi_us\t"
                "status\n", "barrier\tNA\t1.5\t1\t2\tok\n")
        for folder, run in (("one", ""), ("single", "1\t"), ("two", "1\t")):
            os.makedirs(os.path.join(self.folder, folder, "runs/1"),
                        exist_ok=True)
            head = rows[0].replace("sync\tn", "run\tsync\tn") if run else rows[0]
            text = head + run + rows[1]
            if folder == "two":
                os.mkdir(os.path.join(self.folder, folder, "runs/2"))
                text += "2\t" + rows[1]
            with open(os.path.join(self.folder, folder, "syncbench.tsv"), "w",
                      encoding="utf-8") as stream:
                stream.write(text)
        one, single, two = (
            subprocess.run(["sh", script, os.path.join(self.folder, folder)],
                           capture_output=True, text=True, check=True).stdout
            for folder in ("one", "single", "two"))
        self.assertIn("| barrier | NA | 1.5 | 1 | 2 | ok |", one)
        self.assertEqual(one, single)
        self.assertIn("| barrier (run 2) | NA | 1.5 | 1 | 2 | ok |", two)

    def test_what_is_missing_is_said(self):
        folder = os.path.join(self.folder, "cut")
        os.mkdir(folder)
        for name in ("syncbench", "mine"):
            with open(f"{folder}/{name}.tsv", "w", encoding="utf-8") as stream:
                stream.write("# schema: 2\n# warning: late by 3 us\n# warning: late by "
                             "4 us\nsync\tstatus\nbarrier\tok\n")
        done = subprocess.run(
            ["sh", os.path.join(TOP, "run_scripts", "report_text.sh"), folder],
            capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"(?m)^- .*syncbench.*: the result was cut off")
        self.assertRegex(done.stdout, r"(?m)^- .*syncbench \(2 times\): late by 3 us "
                                      r"\(and with 1 other number\)$")
        self.assertNotIn("## Work that fits", done.stdout)
        self.assertEqual(done.stderr, "report_text.sh: mine.tsv: left out, it isn't named "
                                      "as run_suite.sh names results\n")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", help="classes; default: all")
    parser.add_argument("--full", action="store_true", help="every case")
    OPTIONS = parser.parse_args()
    run_tests(OPTIONS.tests)


if __name__ == "__main__":
    main()
