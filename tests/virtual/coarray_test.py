# SPDX-License-Identifier: BSD-3-Clause
"""Coarrays (coarray.c): where data lands, who waits for whom, mutual exclusion."""

import virtual

COSTS = {"MODEL_LATENCY_US": 5, "MODEL_POST_US": 0.2, "MODEL_WAIT_US": 0.1, "MODEL_BARRIER_US": 1,
         "MODEL_SYNC_US": 0.5, "MODEL_TEST_US": 0.05, "MODEL_FRACTION": 1, "MODEL_DATA": 1}


class Coarrays(virtual.Test):
    def test_coarrays(self):
        for ranks in (2, 3, 4, 8):
            with self.subTest(ranks=ranks):
                done = virtual.run_raw("coarray", VIRTUAL_RANKS=ranks, **COSTS)
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    virtual.main()
