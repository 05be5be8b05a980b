"""What results say in sentences, of results that the benchmarks made on the model MPI, where the
right sentence is known."""

import os
import re

import pytest

from accuracy import Accuracy
from commcost import findings, gains, tables
from mpi_run import number, read, read_tsv, run_raw


def sentences_of(rule, path):
    return [finding.text for finding in rule(findings.Facts(tables.Tables([str(path)])))]


@pytest.fixture
def said(launcher, built, model, disturbed, bounds, tmp_path):
    """The sentences of a rule on one launch of a program on the model."""
    def sentences(rule, program, *options, ranks=2, status=0, **variables):
        path = tmp_path / (os.path.basename(program) + ".tsv")
        stops = {name: value for name, value in variables.items() if name.startswith("DISTURB")}
        environment = {**variables, **disturbed("quiet", model, **stops)}
        done = run_raw(launcher, ranks, [built(program), *options, f"--output={path}"],
                       environment)
        assert done.returncode == status, done.stderr
        bounds.note(read_tsv(read(path)))
        return sentences_of(rule, path)
    return sentences


@pytest.fixture
def tells(said):
    """The only one, of up to three launches: what one doesn't know for sure it doesn't say."""
    def only(*rule_and_program, **variables):
        found = []
        for _ in range(3):
            found = found or said(*rule_and_program, **variables)
        sentence, = found
        return sentence
    return only


@pytest.fixture
def near(bounds, say, full):
    """Whether the median of numbers that launches say is as far from the truth as allowed; more is
    where the machine is busy. What is too far off is measured once more."""
    def check(name, launch, truth, allowed):
        Accuracy(bounds, say, thorough=full).check(name, lambda: {"error": launch() - truth}, allowed,
                                    text="{:+.3f}")
    return check


def number_after(text, sentence):
    """The number that follows these words."""
    return float(re.search(re.escape(text) + " ([0-9.]+)", sentence).group(1))


@pytest.mark.parametrize("fraction, words", [
    (0.9, "at least 50 % of their time can be used for work"),
    (0, "starting them early gains less than 10 % of their time")])
def test_hidden_work(tells, near, fraction, words):
    def hidden_pct():
        sentence = tells(findings.hidden_work, "overlap/overlap_iallreduce", "--max-time=0.5",
                         MODEL_DURATION_US=1200, MODEL_FRACTION=fraction)
        assert words in sentence
        return number_after("iallreduce", sentence)
    near(f"work that hides {fraction:.0%}", hidden_pct, 100 * fraction, allowed=1)


@pytest.mark.parametrize("fraction, words", [
    (0.9, "At least half of their time can be used for work: ibcast from 8 bytes on."),
    (0.1, "Less than half of their time can be used for work at any size that was measured: "
          "ibcast.")])
def test_sizes_that_hide(tells, fraction, words):
    sentence = tells(findings.sizes_that_hide, "overlap/overlap_ibcast", "--data-driven",
                     "--max-num-elts=8", "--max-time=0.3", MODEL_DURATION_US=200,
                     MODEL_FRACTION=fraction)
    assert sentence == words


@pytest.mark.parametrize("fraction, words, gain_pct", [
    (0.5, "Going non-blocking pays with plenty of work: MPI_Iallreduce ", 100 / 3),
    (0, "Going non-blocking loses even with plenty of work: MPI_Iallreduce ", -100 / 3)])
def test_what_pays(tells, near, fraction, words, gain_pct):
    """A blocking call takes 150 us; of the non-blocking one 100 or 200 us stay exposed."""
    def found_pct():
        sentence = tells(gains.what_pays, "overlap/overlap_iallreduce", "--data-driven",
                         "--min-num-elts=8", "--max-num-elts=8", "--max-time=0.3",
                         MODEL_DURATION_US=200, MODEL_FRACTION=fraction, MODEL_BLOCKING_US=150)
        assert sentence.startswith(words)
        return float(re.search(r"a gain of (-?[0-9.]+) %", sentence).group(1))
    near(f"the gain where {fraction:.0%} proceed", found_pct, gain_pct, allowed=1)


def test_calls_that_help(tells, near):
    """Four stages of 50 us that calls start, under 400 us of work: a call in the middle of it starts
    the second one, 15 calls all of them."""
    def exposed_us():
        sentence = tells(gains.tests_that_help, "overlap/overlap_iallreduce", "--data-driven",
                         "--min-num-elts=8", "--max-num-elts=8", "--max-time=0.4",
                         "--test-calls=0,1,15", MODEL_DURATION_US=200, MODEL_FRACTION=1,
                         MODEL_PROGRESS_SHARE=0.25, MODEL_BLOCKING_US=200)
        assert sentence.startswith("With calls of MPI_Test during the work less stays exposed: "
                                   "MPI_Iallreduce of 64 bytes, least at 15 calls (")
        return number_after("without", sentence)
    near("what stays exposed without calls", exposed_us, 150, allowed=2)


def test_calls_that_cost(tells, near):
    """150 of 200 us proceed by themselves. Calls at 80 and 180 us of 20 us each: the second one
    completes the operation, and 90 us are exposed, 50 without calls."""
    def exposed_us():
        sentence = tells(gains.tests_that_help, "overlap/overlap_iallreduce", "--data-driven",
                         "--min-num-elts=8", "--max-num-elts=8", "--max-time=0.4",
                         "--test-calls=0,4", MODEL_DURATION_US=200, MODEL_FRACTION=0.75,
                         MODEL_TEST_US=20, MODEL_BLOCKING_US=200)
        assert sentence.startswith("Calls of MPI_Test during the work only cost time: "
                                   "MPI_Iallreduce of 64 bytes (")
        return float(re.search(r"([0-9.]+) µs \([^)]*\) without", sentence).group(1))
    near("what stays exposed without calls", exposed_us, 50, allowed=1)


def test_message_cost(tells, near):
    """3 us of the processor, and the clock's readings in them; the largest message's time is free
    but for that."""
    def cost_us():
        sentence = tells(findings.message_cost, "mpi_overhead/mpi_overhead", "--msgsize=8,64K",
                         "--max-time=0.4", MODEL_P2P=1, MODEL_FRACTION=1, MODEL_POST_US=3,
                         MODEL_LATENCY_US=20, MODEL_PER_BYTE_NS=1)
        assert "from 64KiB on more than 90 % of the transfer's time is free for other work" in sentence
        return number_after("sending a message takes", sentence)
    near("a message's cost", cost_us, 3.1, allowed=0.2)


def test_barrier_cost(tells, near):
    def cost_us():
        sentence = tells(findings.barrier_cost, "syncbench/syncbench", "--types=MPI barrier",
                         "--max-time=0.3", MODEL_SYNC_COLL=1, MODEL_BARRIER_US=25)
        assert sentence.startswith("A barrier of 2 processes costs ")
        return number_after("costs", sentence)
    near("a barrier's cost", cost_us, 25, allowed=0.5)


def test_message_rate(tells, near):
    """Messages 2 us apart, sent and received at a time."""
    def millions():
        sentence = tells(findings.message_rate, "msgrate/msgrate", "-p", "1", "-c", "0",
                         "--max-time=0.3", MODEL_P2P=1, MODEL_LATENCY_US=2, MODEL_GAP_US=2)
        return number_after("a process exchanges", sentence) / 1e6
    near("messages a second", millions, 1, allowed=0.1)


def test_put_against_send(tells, near):
    """A put takes 60 us, its barrier 30 us; a message takes 20 us."""
    def times():
        sentence = tells(findings.put_against_send, "pingpong/pingpong", "--patterns=put,MPI Send",
                         "--arrangements=single", "--coarray-sync=all", "--max-ndata=1",
                         "--max-time=0.3", MODEL_P2P=1, MODEL_RMA=1, MODEL_SYNC_COLL=1,
                         MODEL_LATENCY_US=20, MODEL_SYNC_US=40, MODEL_BARRIER_US=30)
        put, send = (float(text) for text in re.findall(r"([0-9.]+) µs \(", sentence)[:2])
        assert put > 2.9 * send
        assert abs(number_after("of 8 bytes", sentence) - put / send) < 0.05 * put / send
        return send
    near("the message's time", times, 20, allowed=1)


def test_cheapest_halo(tells):
    """Messages take 20 us; a put's synchronisation as long again, five times."""
    sentence = tells(findings.cheapest_halo, "halo/halo", "--local=4",
                     "--methods=put,isend/irecv packed", "--coarray-sync=all", "--max-time=0.3",
                     MODEL_P2P=1, MODEL_RMA=1, MODEL_LATENCY_US=20, MODEL_SYNC_US=100)
    assert sentence.startswith("A halo is swapped quickest by isend/irecv packed for 4x4x4 (")


def test_monitor_cost(launcher, built, near, tmp_path):
    """Wrappers in the monitor's place, which say by how much longer a call takes while a snapshot is
    active than while none is."""
    def error():
        path = tmp_path / "monitor.tsv"
        done = run_raw(launcher, 1, [built("tests/accuracy/monitor_overhead_known"),
                                     "--max-time=0.2", f"--output={path}"], {"KNOWN_NS": 500})
        known_ns, reading_ns = map(float, re.search(r"known: (\S+) ns, reading: (\S+) ns",
                                                    done.stderr).groups())
        sentence, = sentences_of(findings.monitor_cost, path)
        idle_ns = max(number(row["added_ns"]) / findings.calls_in(row["call"])
                      for row in read_tsv(read(path)) if row["mode"] == "off")
        return ((number_after("adds at most", sentence) - idle_ns - known_ns) /
                max(0.03 * known_ns, 0.5 * reading_ns))
    near("what monitoring adds", error, 0, allowed=1)


def test_wrong_data(said):
    """Only where there is any."""
    def rows(**variables):
        return said(findings.wrong_data, "halo/halo", "--local=4", "--methods=isend/irecv packed",
                    "--coarray-sync=all", "--check", "--max-time=0.1", MODEL_P2P=1,
                    MODEL_LATENCY_US=5, MODEL_DATA=1, **variables)
    assert rows() == []
    sentence, = rows(status=1, MODEL_CORRUPT=1)
    assert sentence.startswith("Wrong data came in 1 row: ")


def test_lost_time(tells, tmp_path):
    """Stops of 50 us 100 us after the last one take a third of the time."""
    sentence = tells(findings.lost_time, "syncbench/syncbench", "--types=MPI barrier",
                     "--max-time=0.5", MODEL_SYNC_COLL=1, MODEL_BARRIER_US=25, DISTURB="10000:50")
    row, = read_tsv(read(tmp_path / "syncbench.tsv"))
    assert sentence.startswith("In 1 row the system took")
    assert f" {number(row['lost_pct']):.1f} %: measure" in sentence
