"""What results say in sentences, of results that the benchmarks made on the model MPI, where the
right sentence is known."""

import os
import re

import pytest

from commcost import findings, tables
from mpi_run import run_raw


@pytest.fixture
def said(launcher, built, model, tmp_path):
    """The sentences of a rule on one launch of a program on the model."""
    def sentences(rule, program, *options, **variables):
        path = tmp_path / (os.path.basename(program) + ".tsv")
        environment = {name: str(value) for name, value in variables.items()}
        done = run_raw(launcher, 2, [built(program), *options, f"--output={path}"],
                       {**environment, "LD_PRELOAD": model})
        assert done.returncode == 0, done.stderr
        facts = findings.Facts(tables.Tables([str(path)]))
        return [finding.text for finding in rule(facts)]
    return sentences


def number_after(text, sentence):
    """The number that follows these words."""
    return float(re.search(re.escape(text) + " ([0-9.]+)", sentence).group(1))


@pytest.mark.parametrize("fraction, words", [
    (0.9, "at least 50 % of their time can be used for work"),
    (0, "starting them early gains less than 10 % of their time")])
def test_hidden_work(said, fraction, words):
    sentence, = said(findings.hidden_work, "overlap/overlap_iallreduce", "--max-time=0.5",
                     MODEL_DURATION_US=1200, MODEL_FRACTION=fraction)
    assert words in sentence
    assert abs(number_after("iallreduce", sentence) - 100 * fraction) < 1


@pytest.mark.parametrize("fraction, words", [
    (0.9, "At least half of their time can be used for work: ibcast from 8 bytes on."),
    (0.1, "Less than half of their time can be used for work at any size that was measured: "
          "ibcast.")])
def test_sizes_that_hide(said, fraction, words):
    sentence, = said(findings.sizes_that_hide, "overlap/overlap_ibcast", "--data-driven",
                     "--max-num-elts=8", "--max-time=0.3", MODEL_DURATION_US=200,
                     MODEL_FRACTION=fraction)
    assert sentence == words


def test_message_cost(said):
    """3 us of the processor; the largest message's time is free but for that."""
    sentence, = said(findings.message_cost, "mpi_overhead/mpi_overhead", "--msgsize=8,64K",
                     "--max-time=0.4", MODEL_P2P=1, MODEL_FRACTION=1, MODEL_POST_US=3,
                     MODEL_LATENCY_US=20, MODEL_PER_BYTE_NS=1)
    assert abs(number_after("sending a message takes", sentence) - 3.1) < 0.3
    assert "from 64KiB on more than 90 % of the transfer's time is free for other work" in sentence


def test_barrier_cost(said):
    sentence, = said(findings.barrier_cost, "syncbench/syncbench", "--types=MPI barrier",
                     "--max-time=0.3", MODEL_SYNC_COLL=1, MODEL_BARRIER_US=25)
    assert sentence.startswith("A barrier of 2 processes costs ")
    assert abs(number_after("costs", sentence) - 25) < 0.5


def test_message_rate(said):
    """Messages 2 us apart, sent and received at a time."""
    sentence, = said(findings.message_rate, "msgrate/msgrate", "-p", "1", "-c", "0",
                     "--max-time=0.3", MODEL_P2P=1, MODEL_LATENCY_US=2, MODEL_GAP_US=2)
    assert abs(number_after("a process exchanges", sentence) / 1e6 - 1) < 0.1


def test_put_against_send(said):
    """A put takes 60 us, its barrier 30 us; a message takes 20 us."""
    sentence, = said(findings.put_against_send, "pingpong/pingpong", "--patterns=put,MPI Send",
                     "--arrangements=single", "--coarray-sync=all", "--max-ndata=1",
                     "--max-time=0.3", MODEL_P2P=1, MODEL_RMA=1, MODEL_SYNC_COLL=1,
                     MODEL_LATENCY_US=20, MODEL_SYNC_US=40, MODEL_BARRIER_US=30)
    times = number_after("of 8 bytes", sentence)
    put, send = (float(text) for text in re.findall(r"([0-9.]+) µs \(", sentence)[:2])
    assert abs(send - 20) < 1
    assert put > 2.9 * send
    assert abs(times - put / send) < 0.05 * times


def test_cheapest_halo(said):
    """Messages take 20 us; a put's synchronisation as long again, five times."""
    sentence, = said(findings.cheapest_halo, "halo/halo", "--local=4",
                     "--methods=put,isend/irecv packed", "--coarray-sync=all", "--max-time=0.3",
                     MODEL_P2P=1, MODEL_RMA=1, MODEL_LATENCY_US=20, MODEL_SYNC_US=100)
    assert sentence.startswith("A halo is swapped quickest by isend/irecv packed for 4x4x4 (")
