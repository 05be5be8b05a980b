# SPDX-License-Identifier: BSD-3-Clause
"""The contract of all benchmark programs: help, version, wrong usage, output, metadata, the end line,
remarks, samples, signals."""

import json
import os
import re
import signal
import statistics

from case import Case, call, each, within
from mpi_run import WHOLE, read_tsv, run_raw
from schemas import violations

# A short run of each program; options of its own that are refused, with a value that is wrong; a
# remark that the short run makes, with more options if it needs some.
PROGRAMS = {
    "overlap/overlap_iallreduce": (
        ["--data-driven", "--min-num-elts=64", "--max-num-elts=64", "--samples=5", "--warmup=1"],
        ["--min-num-elts=few", "--cutoff-time=0", "--sizes=8,", "--acceptance-threshold=101%", "--test-calls=0,auto",
         "--form=waiting", "--plenty=0", "--threshold=101", "--root"],
        (["--debug"], "debug: trial: ")),
    "overlap/overlap_ibarrier": (["--samples=5", "--warmup=1"], ["--validation-steps=-2"],
                                 (["--verbose"], "verbose: 0 elements: phase 1: ")),
    "overlap/overlap_put": (
        ["--data-driven", "--min-num-elts=64", "--max-num-elts=64", "--samples=5", "--warmup=1"],
        ["--form=persistent", "--test-calls=many"],
        (["--form=all"], "note: no rows of the form persistent: ")),
    "overlap/overlap_halo": (["--local=4", "--methods=persistent", "--samples=5", "--warmup=1"],
                             ["--local=4x4", "--local=0", "--methods=put", "--plenty=0"],
                             (["--debug"], "debug: trial: ")),
    "mpi_overhead/mpi_overhead": (["--max-time=0.05"],
                                  ["--msgsize=1,x", "--msgsize=4:2", "--iterations=0", "--thresh=0.5", "--bthresh=x"],
                                  (["--verbose"], "verbose: Message size is 8 bytes")),
    "msgrate/msgrate": (["-p", "1", "-i", "2", "-c", "0"],
                        ["--peers=0", "--iterations=0", "--messages=3G", "--size=4:2", "--ppn=0", "--cache=8EB"],
                        ([], "note: the caches are not flushed")),
    "msgrate/msgrate_rma": (["-p", "1", "-i", "2", "-c", "0"], ["--threads=0", "--transfer=take", "--sync=x"],
                            ([], "note: the caches are not flushed")),
    "pingpong/pingpong": (["--patterns=MPI Send", "--max-ndata=1", "--samples=2"],
                          ["--patterns=put,,get", "--arrangements=double", "--coarray-sync=none", "--max-ndata=3",
                           "--max-stride=3", "--max-blocks=3", "--start=window"], ([], "note: no arrangement crossing: ")),
    "syncbench/syncbench": (["--types=MPI barrier", "--samples=2"],
                            ["--types=lock,,fence", "--delay=1e3", "--inner=0", "--outer=x", "--max-neighbours=1",
                             "--seed=-1", "--start=window,barrier"],
                            (["--types=MPI barrier,ring"], "note: no ring: ")),
    "halo/halo": (["--local=4", "--methods=persistent", "--samples=2"],
                  ["--dims=3x1x1", "--dims=2x1", "--local=10x20", "--local=100000x100000x1", "--methods=puts",
                   "--coarray-sync=none"],
                  (["--methods=shared window"], "note: shared window: ")),
    "linkmap/linkmap": (["--sizes=8", "--samples=5"],
                        ["--per=node", "--alpha=0", "--sizes=3G", "--pairs=some", "--threshold=0", "--exclude=file", "--link-rate=0",
                         "--min-share=101", "--memory=gpu"],
                        ([], "note: no verdicts: ")),
    "noise/noise": (["--samples=2000", "--visits=1", "--operations=barrier", "--grain=0"],
                    ["--quantum=0", "--min-stop=0", "--per=node", "--operations=bcast", "--grain=2000000", "--alpha=51",
                     "--threshold=101"],
                    (["--samples=2"], "note: barrier, grain_us 0: no slowdown_pct: ")),
    "collective/collective": (["--operations=bcast,allreduce", "--sizes=64", "--samples=5", "--warmup=1"],
                              ["--operations=reduced", "--sizes=12", "--root=2", "--types=short"],
                              (["--in-place"], "note: no bcast: ")),
    "monitor/monitor_overhead": (["--max-time=0.01"], ["--precision=0"],
                                 ([], "warning: oversubscribed: ")),
}

# For its remark the ranks of this program share a processor, since it has few other remarks.
ON_ONE_PROCESSOR = "monitor/monitor_overhead"

# Options for nothing but rows, whether the header row stays, and the only program to try them with.
BARE = [
    (["--no-metadata"], True, None),
    (["--no-header"], False, None),
    (["--no-header", "--no-metadata"], False, "halo/halo"),
    (["--no-metadata", "--output={file}"], True, "halo/halo"),
    (["--no-metadata", "--format=table"], True, "halo/halo"),
    (["--no-header", "--format=table"], False, "halo/halo"),
    # The specifications' own options.
    (["-n"], False, "mpi_overhead/mpi_overhead"),
    (["-n", "--no-metadata"], False, "mpi_overhead/mpi_overhead"),
    (["--nohdr"], False, "mpi_overhead/mpi_overhead"),
    (["--nohdr", "--no-metadata"], False, "mpi_overhead/mpi_overhead"),
    (["-o"], False, "msgrate/msgrate"),
    (["-o", "--no-metadata"], False, "msgrate/msgrate"),
]

# Programs whose ranks can be started on a shared clock.
STARTS = [name for name in PROGRAMS if name.split("/")[0] in ("overlap", "syncbench", "halo", "collective")]
COMMON_OPTIONS = """help version format output no-header no-metadata precision confidence
    min-samples max-samples samples max-time visits warmup timer estimator check dump-samples""".split()
METADATA = """benchmark version commit schema date command compiler compiler_flags mpi_library
    mpi_standard thread_level ranks nodes ranks_per_node hosts binding processor processors cores
    kernel job_id clock clock_cost_ns clock_resolution_ns buffer_placement columns""".split()
METADATA += [name for name in COMMON_OPTIONS if name not in ("help", "version", "no-metadata")]
MSGRATE_COLUMNS = """ job_size npeers niters nmsgs nbytes cache_size ppn rate_per_s rate_lo_per_s
    rate_hi_per_s total_rate_per_s iter_us iter_lo_us iter_hi_us iter_p99_us iter_max_us visits lost_pct samples
    status slowest_rank"""


def overlap_header(more_keys=""):
    """The header row of overlap_*, some of which have keys of their own."""
    return f"""collective model form test_calls {more_keys} elements size_bytes ref_us ref_sd_us
        work_us total_us overlap_pct overlap_lo_pct overlap_hi_pct
        blocking_us blocking_lo_us blocking_hi_us exposed_us exposed_lo_us exposed_hi_us
        gain_us gain_lo_us gain_hi_us gain_pct gain_lo_pct gain_hi_pct verdict best_test_calls
        ref_lo_us ref_hi_us ref_p99_us ref_max_us work_lo_us work_hi_us work_p99_us work_max_us
        total_lo_us total_hi_us total_p99_us total_max_us
        visits lost_pct samples status slowest_rank"""


# Header rows, and options that are in the help and the metadata, of a program or a folder of them.
HEADERS = {
    "overlap": overlap_header(),
    "overlap/overlap_halo": overlap_header("method local"),
    "mpi_overhead": """direction pair msgsize iterations iter_t work_t overhead base_t avail(%)
        overhead_lo_us overhead_hi_us transfer_us transfer_avail_pct transfer_lo_us transfer_hi_us
        avail_lo_pct avail_hi_pct transfer_avail_lo_pct transfer_avail_hi_pct visits lost_pct samples status""",
    "msgrate/msgrate": "pattern" + MSGRATE_COLUMNS,
    "msgrate/msgrate_rma": "pattern synchronisation transfer threads" + MSGRATE_COLUMNS,
    "pingpong": """arrangement pattern sync count blksize stride ndata nextent nrep time_s
        latency_us latency_lo_us latency_hi_us latency_p99_us latency_max_us bwidth_mbs check
        expected_mbs share_pct visits lost_pct samples status slowest_rank""",
    "syncbench": """sync neighbours ranks inner outer ref_us ref_sd_us loop_us loop_sd_us sync_us
        sync_lo_us sync_hi_us sync_p99_us sync_max_us outliers check visits lost_pct samples status slowest_rank""",
    "halo": """method sync dims local ndata nrep time_s latency_us latency_lo_us latency_hi_us
        latency_p99_us latency_max_us bwidth_mbs check visits lost_pct samples status slowest_rank""",
    "noise": """scope host ranks source about operation grain_us stops_per_s stops_lo_per_s
        stops_hi_per_s stop_us stop_lo_us stop_hi_us stop_p99_us stop_max_us stopped_pct
        stopped_lo_pct stopped_hi_pct period_ms period_lo_ms period_hi_ms step_us step_lo_us
        step_hi_us step_p99_us step_max_us usual_us slowdown_pct slowdown_lo_pct slowdown_hi_pct
        predicted_pct predicted_lo_pct predicted_hi_pct visits lost_pct samples status
        slowest_rank""",
    "collective": """operation type op in_place root elements size_bytes time_us time_lo_us time_hi_us
        time_p99_us time_max_us own_us own_lo_us own_hi_us skew_us skew_lo_us skew_hi_us check visits lost_pct
        samples status slowest_rank""",
    "linkmap": """scope a b nbytes time_us time_lo_us time_hi_us out_mbs out_lo_mbs out_hi_mbs
        in_mbs in_lo_mbs in_hi_mbs alone_pct verdict group expected_mbs share_pct visits lost_pct
        samples status slowest_rank""",
}
OWN_OPTIONS = {
    "linkmap": "per sizes pairs alpha threshold exclude link-rate min-share memory device",
    "collective": "operations sizes types op in-place root",
    "noise": "quantum min-stop per operations grain alpha threshold",
    "overlap": """sizes min-num-elts max-num-elts data-driven-execution cutoff-time acceptance-threshold
        validation-steps default-tdm-n-iters max-tdm-iters root test-calls form plenty threshold
        no-blocking""",
    "overlap/overlap_halo": "local methods test-calls form plenty threshold no-blocking",
    "pingpong": "patterns coarray-sync arrangements max-ndata max-stride max-blocks link-rate",
    "halo": "dims local methods coarray-sync",
}
# Quantities that bench_compare compares, of a program or a folder of them.
RESULTS = {
    "overlap": "ref_us=less overlap_pct=more blocking_us=less exposed_us=less",
    "mpi_overhead": "overhead=less transfer_us=less",
    "msgrate": "rate_per_s=more",
    "pingpong": "latency_us=less",
    "syncbench": "sync_us=less",
    "halo": "latency_us=less",
    "collective": "time_us=less",
}
# Main columns: the specification's under its names, value with interval, status.
MAIN = {
    "overlap": "ref_us work_us total_us overlap_pct overlap_lo_pct overlap_hi_pct status",
    "mpi_overhead": "msgsize iterations iter_t work_t overhead base_t avail(%) overhead_lo_us overhead_hi_us status",
    "msgrate": "rate_per_s rate_lo_per_s rate_hi_per_s status",
    "pingpong": """pattern sync count blksize stride ndata nextent latency_us latency_lo_us latency_hi_us bwidth_mbs
        share_pct status""",
    "syncbench": "sync sync_us sync_lo_us sync_hi_us status",
    "halo": "method sync local latency_us latency_lo_us latency_hi_us bwidth_mbs status",
    "collective": "operation time_us time_lo_us time_hi_us status",
}
WRONG = ["--no-such-option", "--m", "-z", "stray", "--timer=sundial", "--format=xml",
         "--precision=0", "--max-time=0", "--samples=-1", "--output=/no/such/folder/file",
         "--dump-samples=/no/such/folder/file"]

# The program for what one shows for all.
ONE = "overlap/overlap_iallreduce"

TERMINAL = 100                                       # its columns
UNUSUAL = re.compile(r"(?<!\S)-?\d[\d.]{9,}(?!\S)")  # numbers that are longer than those that a line has room for


def own_lines(program, stderr):
    name = os.path.basename(program) + ": "
    return [line[len(name):] for line in stderr.splitlines() if line.startswith(name)]


def split(output):
    """Comments, header, rows."""
    lines = output.splitlines()
    data = [line.split("\t") for line in lines if not line.startswith("#")]
    return [line for line in lines if line.startswith("#")], data[0], data[1:]


def roles_of(output):
    """The columns' roles by name, from the line before the header row."""
    words, = re.findall(r"(?m)^# columns: (.*)\n[^#]", output)
    return dict(word.rsplit("=", 1) for word in words.split())


def once_each(pairs):
    """An object's members; no name twice."""
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def text_of(value):
    """A JSON value as a cell."""
    return "NA" if value is None else str(value)


def words_for(program, table):
    """Returns the words of a table for a program."""
    return table.get(program, table.get(os.path.dirname(program), "")).split()


def as_in_table(header):
    """A table has an interval's ends behind their value, under shorter headings."""
    without_unit = {"overhead": "overhead_us", "avail(%)": "avail_pct"}
    ends = {re.sub("_(lo|hi)(?=_|$)", "", name): ["lo", "hi"] for name in header if re.search("_(lo|hi)(_|$)", name)}
    values = [name for name in header if not re.search("_(lo|hi)(_|$)", name)]
    return [column for name in values for column in [name, *ends.get(without_unit.get(name, name), [])]]


def is_header(line):
    """Rows have numbers in them; no column's name begins with a digit."""
    return not any(word[:1].isdigit() for word in line.split())


class ContractCase(Case):
    """Runs of self.program."""

    program = ONE
    ranks = 2

    @property
    def short(self):
        """The options of the program's short run."""
        return PROGRAMS[self.program if self.program in PROGRAMS else ONE][0]

    def launch(self, *options, ranks=None, environment=None, before=()):
        """Starts the program with its short run's options and more."""
        words = [*before, self.built(self.program), *self.short, *WHOLE, *options]
        return run_raw(self.launcher, ranks or self.ranks, words, environment)

    def start_words(self, *options):
        """Starts the program with these options alone."""
        return run_raw(self.launcher, self.ranks, [self.built(self.program), *options])

    def refuses(self, *options, **how):
        """Starts it with the same, and checks that it refuses them."""
        return self.refused(self.program, *self.short, *options, **how)

    def text(self, *options, **how):
        """Returns the output of a run with these options."""
        done = self.launch(*options, **how)
        assert done.returncode == 0, done.stderr
        return done.stdout


class EveryProgram:
    """Tests of each program."""

    @each("started", ["alone", "by mpirun"])
    def test_help_and_version(self, started):
        def started_with(*options):
            words = [self.built(self.program), *options]
            return call(words) if started == "alone" else run_raw(self.launcher, 2, words)
        helped = started_with("--help")
        assert (helped.returncode, helped.stderr) == (0, "")
        assert helped.stdout.count("Usage:") == 1
        own = words_for(self.program, OWN_OPTIONS) + (["start"] if self.program in STARTS else [])
        for option in COMMON_OPTIONS + own:
            assert f"--{option}" in helped.stdout
        first = 0 if self.program.startswith("overlap/") else helped.stdout.index("\nOptions")
        lines = helped.stdout[first:].splitlines()
        assert max(len(line) for line in lines if "environment:" not in line) <= 80
        # It has the defaults, whatever options come before.
        others = [[*self.short, "--timer=tsc", "--output=x", "--help"], ["--hel"], ["-h"]]
        for options in others[:3 if self.full or started == "alone" else 1]:
            again = started_with(*options)
            assert (again.returncode, again.stdout) == (0, helped.stdout), options
        said = started_with("--version")
        name = os.path.basename(self.program)
        assert said.returncode == 0
        assert re.fullmatch(rf"{name} \(commcost\) \d+\.\d+\.\d+\n", said.stdout)

    def test_wrong_usage(self):
        own = PROGRAMS[self.program][1]
        for word in WRONG + own:
            # One program shows common options for all. Open MPI's launcher takes seconds to end
            # a job that failed.
            if (self.launcher.is_openmpi or not self.full) and self.program != ONE and word not in own + ["stray"]:
                continue
            self.refuses(word, named=word.split("=")[0])

    def test_metadata_header_rows_end(self):
        output = self.text()
        comments, header, rows = split(output)
        keys = [line[2:].split(":")[0] for line in comments]
        for key in METADATA + words_for(self.program, OWN_OPTIONS):
            assert keys.count(key) == 1, key
        roles = roles_of(output)
        assert list(roles) == header == (words_for(self.program, HEADERS) or header)
        assert set(roles.values()) <= {"key", "less", "more", "info"}
        results = [f"{name}={role}" for name, role in roles.items() if role in ("less", "more")]
        assert results == (words_for(self.program, RESULTS) or results)
        assert rows
        assert all(len(row) == len(header) and "" not in row for row in rows)
        assert all(row[header.index("status")] in ("ok", "budget", "no-knee") for row in rows)
        many = "" if len(rows) == 1 else "s"
        assert output.splitlines()[-1] == f"# end: {len(rows)} row{many}, exit 0"
        assert f"# benchmark: {os.path.basename(self.program)}\n" in output

    def test_output_file(self):
        path = self.folder / "result"
        assert self.text(f"--output={path}") == ""
        written = path.read_text()
        assert read_tsv(written)
        assert written.splitlines()[-1].startswith("# end: ")

    def test_json(self):
        """The metadata, roles and keys of the other form, which a strict reader reads, by the schema."""
        output, plain = self.text("--format=json"), self.text("--metadata=full", "--columns=all")
        objects = [json.loads(line, object_pairs_hook=once_each) for line in output.splitlines()]
        with open(os.path.join(self.source, "docs", "result.schema.json"), encoding="utf-8") as stream:
            schema = json.load(stream)
        for one in objects:
            assert not list(violations(one, schema, schema, "")), one
        assert list(violations({"end": {"rows": "1"}}, schema, schema, ""))
        metadata, = (one["metadata"] for one in objects if "metadata" in one)
        rows, lines = [one for one in objects if len(one) > 1], read_tsv(plain)
        roles = roles_of(plain)
        assert objects[-1] == {"end": {"rows": len(rows), "exit": 0}}
        assert metadata.pop("columns") == roles
        said = {name for one in objects if len(one) == 1 for name in one}
        assert {line[2:].partition(": ")[0] for line in split(plain)[0]} - set(metadata) - said <= {
            "columns", "note", "warning", "verbose", "debug", "end"}
        assert [list(row) for row in rows] == [list(line) for line in lines]
        for row, line in zip(rows, lines):
            for name, cell in line.items():
                assert roles[name] != "key" or text_of(row[name]) == cell, name
                assert isinstance(row[name], (str, int, float)) or cell == "NA" or roles[name] != "key", name

    def test_remarks(self):
        """Without metadata nothing but header and rows goes to the result; remarks go to stderr."""
        more, said = PROGRAMS[self.program][2]
        first = str(min(os.sched_getaffinity(0)))
        before = ["taskset", "-c", first] if self.program == ON_ONE_PROCESSOR else []
        done = self.launch(*more, ranks=2, before=before)
        comments, header, rows = split(done.stdout)
        assert own_lines(self.program, done.stderr) == []
        assert any(line.startswith("# " + said) for line in comments)
        for options, has_header, only in BARE:
            if only not in (None, self.program):
                continue
            path = self.folder / "result"
            done = self.launch(*more, *(option.format(file=path) for option in options), ranks=2, before=before)
            assert done.returncode == 0, done.stderr
            to_file = "--output={file}" in options
            assert (done.stdout == "") == to_file
            output = path.read_text() if to_file else done.stdout
            lines = output.splitlines()
            count = 1 if "-o" in options else len(rows)  # -o has a line for each size
            assert [is_header(line) for line in lines] == has_header * [True] + count * [False], lines
            assert not has_header or as_in_table(lines[0].split()) == as_in_table(header)
            assert not any(line.startswith("#") for line in lines), lines
            assert "--format=table" not in options or "\t" not in output
            remarks = own_lines(self.program, done.stderr)
            assert all(line.startswith(("note: ", "warning: ", "verbose: ", "debug: "))
                       for line in remarks), remarks
            found = [line for line in remarks if line.startswith(said)]
            # By rank 0 only, and once, except overlap's, which are of each trial or phase.
            assert found and (len(found) == len(set(found)) or self.program.startswith("overlap/")), remarks

    def test_for_people(self):
        """On stdout without more options: a short head in lines that a terminal has room for, at most fourteen
        columns that matter, and keys that aren't among these, and are the same in all rows. The same as a table, whose
        columns are aligned: a terminal has room for its lines, and a note names what it lacks."""
        _, header, whole = split(self.text())
        done = self.start_words(*self.short)
        assert done.returncode == 0, done.stderr
        comments, names, rows = split(done.stdout)
        head = done.stdout[:done.stdout.index("\t".join(names))].splitlines()
        said = dict(re.findall("# ([a-z_]+): (.*)\n", done.stdout.replace("\n#   ", " ")))
        shared = dict(part.split("=", 1) for part in said.get("all_rows", "").split("; ") if part)
        assert [line.split()[1] for line in head if not re.match("# (note|warning): |#  ", line)] == [
            "program:", "command:", "mpi_library:", "layout:", "intervals:", *(["all_rows:"] if shared else []), "columns:"]
        assert len(head) <= 8
        assert {name: {row[header.index(name)] for row in whole} for name in shared} == {
            name: {value} for name, value in shared.items()}
        assert len(names) <= 14 and set(names) < set(header)
        main = words_for(self.program, MAIN) or ["status"]
        assert [name for name in names if name in main] == main
        for line in comments:
            assert len(line) <= TERMINAL or line.startswith("# command"), line
        # A note is one sentence, in one line.
        assert not re.search("^# note: .*\n#   ", done.stdout, re.M), done.stdout
        keys = re.findall("keys: ([^;]*)", said["columns"])
        where = [names.index(key) for key in ", ".join(keys).split(", ") if key]
        assert len({tuple(row[at] for at in where) for row in rows}) == len(rows)
        done = self.start_words(*self.short, "--format=table", "--no-metadata")
        table = UNUSUAL.sub("12345.678", done.stdout).splitlines()
        lacks = ", ".join(re.findall("note: --format=table leaves out (.*): use --format=tsv", done.stderr)).split(", ")
        assert table[0].split() == as_in_table([name for name in names if name not in lacks])
        assert lacks == [name for name in reversed(names) if name in lacks] or lacks == [""]
        assert all(len(line) <= TERMINAL for line in table), table

    def test_columns(self):
        header = split(self.text())[1]
        chosen = [header[-2], header[0], header[1]]
        assert split(self.text("--columns=" + ",".join(chosen)))[1] == chosen
        main = split(self.text("--columns=main"))[1]
        assert split(self.text(f"--columns=main,{chosen[0]},{header[2]}"))[1] == list(
            dict.fromkeys([*main, chosen[0], header[2]]))
        path = self.folder / "result"
        self.text("--columns=main", "--metadata=short", f"--output={path}")
        assert split(path.read_text())[1] == main
        path.write_text("of another run")
        self.refuses("--columns=status,no_such", f"--dump-samples={path}", named="--columns")
        assert path.read_text() == "of another run"
        self.refuses("--format=metrics", named="--format")
        self.refuses("--columns=", named="--columns")
        self.refuses("--metadata=long", named="--metadata")
        # Of these the last holds.
        assert "#" not in self.text("--metadata=full", "--no-metadata")
        assert "# mpi_library" in self.text("--no-metadata", "--metadata=full")

    def test_lost_output(self):
        done = self.launch("--output=/dev/full")
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert "output was lost" in done.stderr

    def test_samples(self):
        path = self.folder / "samples"
        self.text(f"--dump-samples={path}")
        samples = read_tsv(path.read_text())
        assert samples
        assert list(samples[0]) == ["row", "quantity", "visit", "sample", "value_ns"]

    def test_one_file_for_two(self):
        """The result and the samples, under whatever names, are refused, and what was there stays."""
        cases = [("one", False), ("link", True)]
        if self.program == ONE:
            cases += [("one", True), ("./one", False), ("./one", True), ("link", False), ("hard", True)]
        for number, (other, there) in enumerate(cases):
            folder = self.folder / str(number)
            folder.mkdir()
            one = folder / "one"
            if there:
                one.write_text("a result\n")
            if other == "link":
                (folder / "link").symlink_to("one")
            elif other == "hard":
                os.link(one, folder / "hard")
            line = self.refuses(f"--output={one}", f"--dump-samples={folder}/{other}",
                                named="--dump-samples: ")
            assert "use another file" in line
            assert not there or one.read_text() == "a result\n"

    @each("start", ["barrier", "window"])
    def test_start(self, start):
        """The metadata have the start of samples, and the clock. Without --full one program of
        overlap_* is enough."""
        if self.program not in STARTS:
            self.skipTest("has no --start")
        if self.program.startswith("overlap/") and self.program != ONE and not self.full:
            self.skipTest("with --full")
        output = self.text(f"--start={start}")
        assert f"# start: {start}\n" in output
        assert ("# global_clock_error_us: " in output) == (start == "window")


# A class for each program, of its name: contract_test.py::halo
for path in PROGRAMS:
    short_name = os.path.basename(path)
    globals()[short_name] = type(short_name, (EveryProgram, ContractCase), {"program": path})


class monitor_overhead(ContractCase):  # pylint: disable=invalid-name
    """The program that has no virtual time: what it may have of its own, by one rank, which doesn't poll."""

    program = "monitor/monitor_overhead"
    ranks = 1
    test_help_and_version = EveryProgram.test_help_and_version
    test_wrong_usage = EveryProgram.test_wrong_usage
    test_metadata_header_rows_end = EveryProgram.test_metadata_header_rows_end
    test_remarks = EveryProgram.test_remarks
    test_for_people = EveryProgram.test_for_people


class RootAndCounts(ContractCase):
    """Help of a program of another kind than all above."""

    program = "overlap/overlap_igatherv"
    test_help_and_version = EveryProgram.test_help_and_version


@each("program", PROGRAMS)
class RealLibrary(ContractCase):
    """Parts that depend on the MPI library and its launcher: who writes, exit statuses, lost output. The rest of the contract
    is tested in virtual time."""

    def test_result(self, program):
        self.program = program
        EveryProgram.test_metadata_header_rows_end(self)

    def test_output_file(self, program):
        self.program = program
        EveryProgram.test_output_file(self)

    def test_ends(self, program):
        self.program = program
        EveryProgram.test_lost_output(self)
        self.refuses("stray", named="stray")

    def test_help(self, program):
        done = run_raw(self.launcher, 2, [self.built(program), "--help"])
        assert (done.returncode, done.stderr, done.stdout.count("Usage:")) == (0, "", 1)


class OneForAll(ContractCase):
    """Tests that one program passes for all, and features that only some have."""

    @each("program", [ONE, "overlap/overlap_halo", "overlap/overlap_sendrecv",
                      "msgrate/msgrate", "msgrate/msgrate_rma",
                      "pingpong/pingpong", "syncbench/syncbench"])
    def test_one_process(self, program):
        self.program = program
        line = self.refuses(named="at least 2 processes", ranks=1)
        assert "mpirun is of another MPI library" in line

    @each("rank, lines", [("0", 1), ("1", 0)])
    def test_single_jobs(self, rank, lines):
        """Started by another library's mpirun each process is a job; one message reports it."""
        if self.launcher.is_openmpi:
            self.skipTest("its mpirun sets the variables that tell")
        done = call([self.built(ONE), *self.short], env={
            **os.environ, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": rank})
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("2 processes were started, but each is a job of its own") == lines

    def test_own_launcher(self):
        """MPICH's mpirun started each process as a job: the advice has a launcher for a library built for PMIx."""
        if self.launcher.is_openmpi:
            self.skipTest("MPICH's launcher is not its own")
        done = call([self.built(ONE), *self.short], env={**os.environ, "PMI_SIZE": "2", "PMI_RANK": "0"})
        assert (done.returncode, done.stdout) == (2, "")
        assert "or prterun if the library was built for PMIx" in done.stderr

    @each("program, cells", [
        (ONE, {"collective": "iallreduce", "model": "data", "form": "nonblocking", "test_calls": "0",
               "elements": "64", "size_bytes": "512", "best_test_calls": "NA",
               "samples": "5", "status": "ok"}),
        ("overlap/overlap_put", {"collective": "put", "form": "nonblocking", "elements": "64"}),
        # Six faces of 4 x 4 numbers.
        ("overlap/overlap_halo", {"collective": "halo", "model": "data", "form": "persistent",
                                  "method": "persistent", "local": "4x4x4", "elements": "96",
                                  "size_bytes": "768"}),
        ("overlap/overlap_ibarrier", {"model": "data", "elements": "NA", "size_bytes": "0"}),
        # Of 2 ranks: ceil(128/3) + ceil(256/3) = 43 + 86, so the mean is 64.5 elements of 8 bytes.
        ("overlap/overlap_iallgatherv", {"elements": "64", "size_bytes": "516"})])
    def test_cells(self, program, cells):
        self.program = program
        row, = read_tsv(self.text())
        assert {name: row[name] for name in cells} == cells

    @each("program, options, expected", [
        (ONE, [], "key key less more less less"),
        ("overlap/overlap_ibarrier", [], "key key less more less less"),
        ("overlap/overlap_ibarrier", ["--data-driven=no"], "key key less more less less"),
        ("overlap/overlap_put", [], "key key less more less less"),
        ("overlap/overlap_halo", [], "key key less more less less"),
        # The time-driven model finds the size, so that is a result.
        (ONE, ["--data-driven=no"], "more info info more info info"),
        ("overlap/overlap_put", ["--data-driven=no"], "more info info more info info")])
    def test_roles(self, program, options, expected):
        self.program = program
        output = self.text(*options)
        roles = roles_of(output)
        assert list(roles) == split(output)[1] == words_for(program, HEADERS)
        names = ("elements", "size_bytes", "ref_us", "overlap_pct", "blocking_us", "exposed_us")
        assert [roles[name] for name in names] == expected.split()
        assert {roles[name] for name in ("collective", "model", "form", "test_calls")} == {"key"}
        assert {roles[name] for name in ("ref_max_us", "gain_us", "gain_pct", "verdict")} == {"info"}

    # Their rows of default widths, in a fraction of a second.
    @each("program, options", [
        ("collective/collective", []), ("halo/halo", []), ("linkmap/linkmap", []), ("mpi_overhead/mpi_overhead", ["-m", "8,1M"]),
        ("msgrate/msgrate", ["-p", "1"]), ("msgrate/msgrate_rma", ["-p", "1"]), ("noise/noise", []),
        (ONE, []), ("overlap/overlap_isend", []), ("overlap/overlap_halo", []),
        ("overlap/overlap_partitioned", []), ("overlap/overlap_ibarrier", []),
        ("pingpong/pingpong", ["--patterns=put,strided many put,strided get,MPI Send", "--max-blocks=8"]),
        ("syncbench/syncbench", [])])
    def test_defaults_fit(self, program, options):
        """A program's table fits into a terminal, on 2 and on 4 ranks."""
        short = ["--samples=1", "--visits=1", "--warmup=0", "--format=table"]
        for ranks in 2, 4:
            done = run_raw(self.launcher, ranks, [self.built(program), *options, *short])
            assert done.returncode == 0, done.stderr
            wide = [line for line in done.stdout.splitlines()
                    if len(line) > TERMINAL and not line.startswith("# command")]
            assert not wide, (ranks, wide[0])

    def test_verbose_is_not_wrapped(self):
        """Lines for scripts, and the page's subtraction can be repeated from the row."""
        done = self.start("mpi_overhead/mpi_overhead", "-v", "-b", "1.02", MODEL_LATENCY_US=10)
        lines = done.stdout.splitlines()
        assert [line.split()[2:] for line in lines if line.startswith("# verbose: work ")] == [
            ["work", "iter_t", "work_t", "base_t"]], done.stdout
        first = next(at for at, line in enumerate(lines) if line.startswith("# verbose: "))
        assert not [line for line in lines[first:] if line.startswith("#   ")], done.stdout
        row, = read_tsv(done.stdout)
        assert float(row["iter_t"]) - float(row["work_t"]) == within(float(row["overhead"]), 0.002)
        last = [line.split()[2:] for line in lines if line.startswith("# verbose: ") and line.split()[2].isdigit()][-1]
        assert row["iter_t"] == last[1]

    def test_library(self):
        """The library that ran is named, and the one that the program was built with if it's another.
        A library with the version text of Open MPI stands in for it."""
        def named(*before):
            keys = dict(line[2:].split(": ", 1) for line in split(self.text(before=before))[0]
                        if line.startswith("# mpi_"))
            return keys["mpi_library"], keys.get("mpi_built_with")
        library, built_with = named()
        assert built_with is None
        stand_in = self.built("tests/programs/libother_open_mpi.so")
        assert named("env", f"LD_PRELOAD={stand_in}") == ("Open MPI v9.9.9, not really",
                                                                 re.sub(r"[ \t]+", " ", library))

    def test_lists_in_full(self):
        """However long a list is, the metadata has all of it."""
        sizes = ",".join(map(str, range(1000)))
        done = self.start("mpi_overhead/mpi_overhead", "--samples=1", "-b", "1.5", "-i", "1", f"--msgsize={sizes}")
        assert done.returncode == 0, done.stderr
        assert f"\n# msgsize: {sizes}\n" in done.stdout

    def test_variables_are_named(self):
        output = self.text(environment={"OPENHPCA_OVERLAP_VALIDATION_STEPS": "1", "UCX_LOG_LEVEL": "error"})
        assert "# environment: OPENHPCA_OVERLAP_VALIDATION_STEPS=1\n" in output
        assert "# validation-steps: 1\n" in output
        assert "# mpi_variable: UCX_LOG_LEVEL=error\n" in output

    def test_variables_that_are_asked_for(self):
        output = self.text(environment={"COMMCOST_VARIABLES": "MINE= MIN= NOT_SET=", "MINE": "1 2", "MI": "3", "MINES": "4"})
        assert [line for line in output.splitlines() if "mpi_variable: MI" in line or "NOT_SET" in line] == [
            "# mpi_variable: MINE=1 2"]

    def test_variables_of_all_ranks(self):
        """Ranks whose variables differ from rank 0's are named."""
        other = 'if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = "$OTHER" ]; then export MINE=2; fi; exec "$@"'
        for other_rank, warns in ("1", True), ("2", False):
            done = call([*self.launcher.command, "-np", "2", "sh", "-c", other, "sh", self.built("halo/halo"),
                         *PROGRAMS["halo/halo"][0]],
                        env={**os.environ, "COMMCOST_VARIABLES": "MINE=", "MINE": "1", "OTHER": other_rank})
            assert done.returncode == 0, done.stderr
            assert ("# warning: the variables named in COMMCOST_VARIABLES differ on ranks 1: " in done.stdout) == warns

    def test_row_of_samples(self):
        """The row's reference is the median of those in the file."""
        path = self.folder / "samples"
        row, = read_tsv(self.text(f"--dump-samples={path}"))
        reference_ns = [float(sample["value_ns"]) for sample in read_tsv(path.read_text())
                        if sample["quantity"] == "reference"]
        assert len(reference_ns) == 5
        assert float(row["ref_us"]) == within(statistics.median(reference_ns) / 1000, 0.001)

    @each("name", ["SIGTERM", "SIGINT", "SIGUSR1"])
    def test_signals(self, name):
        """A signal ends the run after the visit in hand: rows have the visits that they have."""
        done = self.start(ONE, "--data-driven", "--max-time=1", MODEL_DURATION_US=200,
                          VIRTUAL_SIGNAL=f"{signal.Signals[name].value}:1:1000000")
        assert done.returncode == 1
        rows = read_tsv(done.stdout)
        assert f"# warning: interrupted by {name}\n" in done.stdout
        assert done.stdout.splitlines()[-1] == f"# end: {len(rows)} rows, exit 1"
        assert int(rows[-1]["visits"]) < 6
        assert int(rows[0]["visits"]) >= 1
        assert None not in rows[-1].values()


class Oversubscribed(ContractCase):
    program = "overlap/overlap_ibarrier"

    def test_oversubscription_is_stated(self):
        assert "# warning: oversubscribed" in self.text("--max-time=0.3", ranks=(os.cpu_count() or 1) + 1)
        if len(os.sched_getaffinity(0)) > 1:
            assert "# warning: oversubscribed" not in self.text()
