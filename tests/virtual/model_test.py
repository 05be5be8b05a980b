# SPDX-License-Identifier: BSD-3-Clause
"""The model's own rules (model_test.c), and that nothing but the seed decides what happens."""

import os
import subprocess
import sys

import virtual

COSTS = {"MODEL_LATENCY_US": 5, "MODEL_POST_US": 0.2, "MODEL_WAIT_US": 0.1, "MODEL_BARRIER_US": 1,
         "MODEL_SYNC_US": 0.5, "MODEL_DURATION_US": 10, "MODEL_TEST_US": 0.05, "MODEL_FRACTION": 1}
CASES = 12
# Everything that is drawn at random, and many ranks.
RANDOM = dict(COSTS, VIRTUAL_RANKS=4, VIRTUAL_LAUNCHES=2, DISTURB="20000:5,3000:50",
              DISTURB_JUMPS="0.01:0.03:1.5", MODEL_LATE_SHARE=0.1, MODEL_LATE_US=20,
              MODEL_LAUNCH_SPREAD=0.05, MODEL_BARRIER_SKEW_US=3)
JOBS = (("syncbench", "--types=sync all,lock,critical,ring", "--samples=3", "--inner=12"),
        ("overlap_iallreduce", "--data-driven", "--max-num-elts=2", "--max-time=0.01"),
        ("halo", "--local=4", "--samples=3"))


class Rules(virtual.Test):
    def test_rules(self):
        for ranks in (2, 3, 4, 6):
            with self.subTest(ranks=ranks):
                done = virtual.run_raw("model_test", VIRTUAL_RANKS=ranks, **COSTS)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count(" ends at "), CASES)
                again = virtual.run_raw("model_test", VIRTUAL_RANKS=ranks, **COSTS)
                self.assertEqual(again.stdout, done.stdout)


def first_processor():
    return str(min(os.sched_getaffinity(0)))


class SameBytes(virtual.Test):
    def outputs(self, before=(), **variables):
        found = []
        for program, *options in virtual.by_tier(plain=JOBS[:1], run=JOBS):
            environment = dict(os.environ, **{name: str(of) for name, of in
                                              dict(RANDOM, **variables).items()})
            found.append(subprocess.run(
                [*before, os.path.join(virtual.BUILD, "tests/virtual", program), "--no-metadata",
                 *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
                universal_newlines=True, env=environment).stdout)
        return found

    def test_same_bytes(self):
        """Again, on one processor, beside loops on all of them; and another seed gives others."""
        usual = self.outputs()
        self.assertEqual(self.outputs(), usual)
        self.assertEqual(self.outputs(before=("taskset", "-c", first_processor())), usual)
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                 for _ in os.sched_getaffinity(0)]
        try:
            self.assertEqual(self.outputs(), usual)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        for other, same in zip(self.outputs(VIRTUAL_SEED=2), usual):
            self.assertNotEqual(other, same)

    def test_launches_of_a_job(self):
        """Launch 1 of a job is the first launch of a job that begins with it."""
        both = self.outputs()
        for text, alone in zip(both, self.outputs(VIRTUAL_LAUNCHES=1, VIRTUAL_FIRST_LAUNCH=1)):
            self.assertEqual(text.split("# launch 1\n")[1], alone)


if __name__ == "__main__":
    virtual.main()
