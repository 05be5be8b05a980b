"""What the scorecard says of launches whose truth is known."""

import functools
import os
import random
import re
import typing
import unittest

import rules
import virtual
from exposed import POST_US, PROGRAMS, SYNC_US, WAIT_US, Transfer, exposed_us
from launches import TOP, Folder
from commcost.result import tables
from commcost.scorecard import card_text, gain_lines, scorecard

ENOUGH = 8  # launches
FALSE, MISSED = 0.01, 0.05
DISTURBED = 5  # percent, by which interruptions may change a gain


class Case(typing.NamedTuple):
    """A line that the scorecard must have for a program: its subject, and its words (is_said)."""

    what: str
    words: str
    program: str
    options: tuple
    variables: dict


def gain(what, words, *options, program="overlap_iallreduce", sizes=(8, 8), **variables):
    return Case(what, words, program, ("--data-driven", "--min-num-elts={}".format(sizes[0]),
                                       "--max-num-elts={}".format(sizes[1]), "--max-time=0.3", *options),
                {"MODEL_DURATION_US": 200, **variables})


PUT = ("--patterns=put,MPI Send", "--arrangements=single", "--coarray-sync=all", "--max-ndata=1", "--max-time=0.3")
OVERHEAD = ("mpi_overhead", ("--msgsize=8,64K", "--max-time=0.4"),
            {"MODEL_POST_US": 3, "MODEL_LATENCY_US": 20, "MODEL_PER_BYTE_NS": 1})
SLOW_SYNC, FACES = rules.Model(latency=20, sync=100), 6 * [8 * 4 * 4]
MIND = "Mind"
CASES = [
    gain("Non-blocking allreduce", "at 64 bytes yes saves 33 %", MODEL_FRACTION=0.5, MODEL_BLOCKING_US=150),
    gain("Non-blocking allreduce", "at 64 bytes no less than 10 % can be hidden", MODEL_FRACTION=0,
         MODEL_BLOCKING_US=150),
    gain("Non-blocking allreduce", "at 64 bytes no costs up to 33 %", MODEL_FRACTION=0.5, MODEL_BLOCKING_US=75),
    gain("Non-blocking allreduce", "at 64 bytes even makes no difference", MODEL_FRACTION=0.5, MODEL_BLOCKING_US=100),
    # Where the blocking call takes 8 us and more, which is what is exposed.
    gain("Non-blocking broadcast", "from 4 KiB yes saves 11.5±1.5 to 79.5±0.5 %", program="overlap_ibcast",
         sizes=(8, 4096), MODEL_POST_US=8, MODEL_DURATION_US=10, MODEL_BLOCKING_US=5, MODEL_PER_BYTE_NS=1,
         MODEL_FRACTION=1),
    # Stages of 50 us under 400 us of work: a call in the middle starts the second one.
    gain("MPI_Test during allreduce", "at 64 bytes yes saves 74.5±0.5 % with 15 calls", "--test-calls=0,1,15",
         MODEL_FRACTION=1, MODEL_PROGRESS_SHARE=0.25, MODEL_BLOCKING_US=200),
    # Two calls of 20 us until one completes the operation.
    gain("MPI_Test during allreduce", "at 64 bytes no costs up to 19.5±0.5 %", "--test-calls=0,4", MODEL_FRACTION=0.75,
         MODEL_TEST_US=20, MODEL_BLOCKING_US=200),
    gain("MPI_Test during allreduce", "at 64 bytes even makes no difference", "--test-calls=0,4", MODEL_FRACTION=0.75,
         MODEL_BLOCKING_US=200),
    Case("Processor time of a send, 8 bytes", "3±0.05 µs 3±0.1 – 3±0.1", *OVERHEAD),
    Case("Work during a send", "yes 85±1 to 96.5±0.5 % of the time is free for work", *OVERHEAD),
    # All ranks wait for the last one, which gets the message after 20 us.
    Case("Broadcast of 8 bytes", "20.5±0.5 µs 20.5±1 – 20.5±1", "collective",
         ("--operations=bcast", "--sizes=8", "--max-time=0.1"), {"MODEL_LATENCY_US": 20, "MODEL_ALGORITHM": "linear"}),
    Case("Barrier of 2 processes", "25±0.5 µs 25±0.8 – 25±0.8", "collective",
         ("--operations=barrier", "--max-time=0.1"), {"MODEL_BARRIER_US": 25}),
    Case("Barrier of 2 processes", "25±0.5 µs 25±0.8 – 25±0.8", "syncbench", ("--types=MPI barrier", "--max-time=0.3"),
         {"MODEL_BARRIER_US": 25}),
    # 128 receives are posted in 12.8 us, then 128 messages come 2 us apart, and as many go: 256 in 268.8 us. So in all
    # patterns but that of one direction.
    Case("Messages a second, warm caches, 8 bytes", "952±10 k 952±20 – 952±20 no clear best of 3 ways", "msgrate",
         ("-p", "1", "-c", "0", "--max-time=0.1"), {"MODEL_LATENCY_US": 2, "MODEL_GAP_US": 2}),
    Case("Message of 8 bytes, one way", "20±0.5 µs 20±0.8 – 20±0.8", "pingpong", PUT, {"MODEL_LATENCY_US": 20}),
    Case("MPI_Put instead of send", "at 8 bytes no takes up to 4.5 times as long", "pingpong", PUT,
         {"MODEL_LATENCY_US": 20, "MODEL_SYNC_US": 40, "MODEL_BARRIER_US": 30}),
    Case("Halo of 4 x 4 x 4",
         "{0:.4g}±1 µs {0:.4g}±2 – {0:.4g}±2 best: isend/irecv packed; next: put (all), {1:.4g}±5 µs".format(
             SLOW_SYNC.exchange_packed(FACES), SLOW_SYNC.sync_all() + SLOW_SYNC.sync_all(FACES)),
         "halo", ("--local=4", "--methods=put,isend/irecv packed", "--coarray-sync=all", "--max-time=0.3"),
         SLOW_SYNC.variables()),
    Case(MIND, "1 of 1 row lost more than 10 % of the time to interruptions: measure them again on a quieter machine.",
         "syncbench", ("--types=MPI barrier", "--max-time=0.5"), {"MODEL_BARRIER_US": 25, "DISTURB": "10000:50"}),
    Case(MIND, "", "syncbench", ("--types=MPI barrier", "--max-time=0.5"),
         {"MODEL_BARRIER_US": 25, **virtual.CONDITIONS["cloud"]}),
]


def is_said(said, words, beside=0):
    """True if words are said. Their numbers may differ by the number behind ±, and `beside`."""
    found, wanted = said.split(), words.split()
    return len(found) == len(wanted) and all(map(functools.partial(is_word_said, beside), found, wanted))


def is_word_said(beside, word, wanted):
    middle, _, around = wanted.partition("±")
    numbers = [re.fullmatch("[0-9]+([.][0-9]+)?", text) for text in (word, middle)]
    return word == wanted or all(numbers) and abs(float(word) - float(middle)) <= float(around or 0) + beside


class Launches(virtual.Test):
    """Programs' own launches."""

    def said(self, case, **how):
        """The line of a case, but for what it is about; of two that of the sizes where it pays."""
        folder = Folder(self)
        folder.launches("runs", case.program, *case.options, **{**case.variables, **how})
        card = scorecard.card_of(tables.Tables([folder.path]))
        if case.what == MIND:
            return " ".join(text for text in card.mind if "launches" not in text and "run_suite" not in text)
        line = next(line for part in card.parts for line in part.lines if line.what == case.what)
        return " ".join(filter(None, [line.since, line.typical, line.launches, line.note]))

    def test_launches(self):
        """Six that differ by a percent."""
        for case in CASES[::virtual.by_tier(plain=6, run=1)]:
            with self.subTest("{}: {}".format(case.what, case.words)):
                said = self.said(case, launches=ENOUGH, MODEL_LAUNCH_SPREAD=0.01)
                self.assertTrue(is_said(said, case.words), said)

    def test_disturbed(self):
        """The same, or not clear, where the system takes 3 % of the time."""
        clear = 0
        cases = CASES[:8][::virtual.by_tier(plain=8, run=1)]
        for case in cases:
            with self.subTest("{}: {}".format(case.what, case.words)):
                said = self.said(case, launches=ENOUGH, MODEL_LAUNCH_SPREAD=0.01, **virtual.CONDITIONS["cloud"])
                answers = (case.words, case.words.replace("even makes no difference", "no saves nothing"),
                           "not clear launches disagree")
                self.assertTrue(any(is_said(said, words, beside=DISTURBED) for words in answers), said)
                clear += gain_lines.UNSURE not in said
        self.mostly(clear, len(cases), 0.5, "clear answers")

    def test_one_launch(self):
        """Nothing is clear."""
        for case in CASES[:8][::virtual.by_tier(plain=8, run=3)]:
            self.assertEqual(self.said(case), "not clear needs more launches")

    def test_wrong_data(self):
        """Only where there is any."""
        case = Case(MIND, "", "halo", ("--local=4", "--methods=isend/irecv packed", "--check", "--max-time=0.1"),
                    {"MODEL_LATENCY_US": 5})
        self.assertEqual(self.said(case), "")
        self.assertRegex(self.said(case, status=1, MODEL_CORRUPT=1), "^1 row has wrong data .*: halo")


# The example of docs/scorecard.md: programs, their options, and what messages and operations take.
TIMES = {"MODEL_LAUNCH_SPREAD": 0.01, "MODEL_LATENCY_US": 0.4, "MODEL_PER_BYTE_NS": 0.1, "MODEL_POST_US": 0.13,
         "MODEL_SYNC_US": 0.3, "MODEL_BARRIER_US": 0.85}
OVERLAPPED = {"MODEL_DURATION_US": 1.1, "MODEL_BLOCKING_US": 1}
OVER_SIZES = ("--sizes=8,1K,64K,1M", "--max-time=0.01")
EXAMPLE = [
    ("pingpong", ("--patterns=MPI Send,put", "--arrangements=single", "--max-ndata=128K", "--max-time=0.001"), {}),
    ("mpi_overhead", ("--both", "--sizes=8,64K", "--max-time=0.02"), {}),
    ("msgrate", ("--peers=1", "--cache=0", "--max-time=0.01"), {"MODEL_GAP_US": 0.05}),
    ("collective", ("--operations=barrier,allreduce,bcast", "--sizes=8", "--max-time=0.005"), {}),
    ("halo", ("--local=50", "--methods=shared window,isend/irecv packed", "--max-time=0.005"), {}),
    ("noise", ("--max-time=0.1", "--operations=barrier", "--grain=100"), {"DISTURB": "250:16", "DISTURB_PERIODIC": 1}),
    ("overlap_iallreduce", OVER_SIZES, {**OVERLAPPED, "MODEL_FRACTION": 0}),
    ("overlap_ialltoall", OVER_SIZES, {**OVERLAPPED, "MODEL_FRACTION": 1}),
    ("overlap_sendrecv", ("--test-calls=0,4", *OVER_SIZES),
     {"MODEL_BLOCKING_US": 1, "MODEL_FRACTION": 0.5, "MODEL_PROGRESS_SHARE": 0.25})]


class Example(virtual.Test):
    """docs/scorecard.md shows what the tools say of launches that anyone can repeat."""

    @unittest.skipIf(virtual.TIER == "plain", "launches of nine programs")
    def test_docs(self):
        folder = Folder(self)
        for program, options, variables in EXAMPLE:
            folder.launches("runs", program, *options, launches=6, **{**TIMES, **variables})
        text = card_text.text_of(scorecard.card_of(tables.Tables([folder.path])))
        with open(os.path.join(TOP, "docs/scorecard.md"), encoding="utf-8") as stream:
            shown = stream.read().split("```\n")[1]
        # The first line has the MPI library.
        self.assertEqual(shown.partition("\n")[2], text.partition("\n")[2], text)


class RandomLaunches(virtual.Test):
    """Operations that take times drawn at random, measured six times on a machine that is disturbed."""

    def test_answers(self):
        chance, wrong, clear, missed = random.Random(41), 0, 0, 0
        cases = virtual.by_tier(plain=4, run=16, full=60)
        for _ in range(cases):
            program = chance.choice(PROGRAMS[:9])
            duration_us, fraction = 10 ** chance.uniform(1, 2.5), chance.choice((0, 0.3, 0.6, 1))
            blocking_us = chance.choice((0.5, 0.8, 1, 1.3)) * duration_us
            folder = Folder(self)
            folder.launches("runs", "overlap_" + program.name, *program.options, launches=ENOUGH,
                            MODEL_DURATION_US=duration_us, MODEL_LATENCY_US=duration_us,
                            MODEL_BLOCKING_US=blocking_us, MODEL_FRACTION=fraction, MODEL_POST_US=POST_US,
                            MODEL_WAIT_US=WAIT_US, MODEL_SYNC_US=SYNC_US, MODEL_LAUNCH_SPREAD=0.01,
                            **virtual.CONDITIONS["quiet"])
            left_us = exposed_us([Transfer(duration_us, fraction, POST_US, WAIT_US)], 2 * duration_us)
            gain_pct = 100 * (1 - left_us / program.blocking_us(None, blocking_us))
            right = ["yes"] if gain_pct > 2 else ["no"] if gain_pct < -2 else ["even", "no"]
            (line,) = scorecard.card_of(tables.Tables([folder.path])).parts[-1].lines
            is_clear = min(abs(gain_pct - 2), abs(gain_pct + 2)) > 8  # launches differ by some 4 points
            is_wrong = (line.typical not in (*right, gain_lines.UNSURE) or
                        line.note.startswith("costs") and right != ["no"])
            wrong += is_wrong
            clear += is_clear
            missed += is_clear and line.typical == gain_lines.UNSURE
            if is_wrong:
                virtual.say("{} gains {:.1f} %: {}".format(program, gain_pct, line))
        self.rarely(wrong, cases, FALSE, "false answers")
        self.rarely(missed, clear, MISSED, "clear answers that are missed")


if __name__ == "__main__":
    virtual.main()
