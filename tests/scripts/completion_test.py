# SPDX-License-Identifier: BSD-3-Clause
"""Bash completes the options of programs and scripts when the user presses Tab."""

import os
import pty
import subprocess

from case import Case

# A line as it is typed, and what bash makes of it.
LINES = {
    "pingpong --pre\t5": "pingpong --precision=5",
    "build/pingpong/pingpong --form\tta\t": "build/pingpong/pingpong --format=table",
    "halo --no-m\t--meta\ts\t": "halo --no-metadata --metadata=short",
    "mpi_overhead -r --msgs\t8": "mpi_overhead -r --msgsize=8",
    "commcost-tune --min\t3": "commcost-tune --min-gain=3",
    "commcost-sweep --ra\t2": "commcost-sweep --ranks=2",
    "mpirun -np 2 overlap_ibcast --test\ta\t": "mpirun -np 2 overlap_ibcast --test-calls=auto",
    "halo --output=resul\t": "halo --output=result.tsv",
    "halo --nothing\t": "halo --nothing",
}
SHOW, CLEAR, END = "\x14", "\x01\x0b", "\x04"  # control keys T; A and K; D

SETUP = r"""
PS1='ready '
. {build}/completions/commcost
complete -o default -F _commcost mpirun
bind -x '"\C-t": echo "$READLINE_LINE" >>lines'
"""


class Completion(Case):
    def test_tab(self):
        (self.folder / "result.tsv").touch()
        (self.folder / "setup").write_text(SETUP.format(build=self.build))
        ours, of_bash = pty.openpty()
        with subprocess.Popen(["bash", "--noprofile", "--rcfile", "setup", "-i"], cwd=self.folder, stdin=of_bash, stdout=of_bash,
                              stderr=of_bash, env={**os.environ, "INPUTRC": "/dev/null"}, start_new_session=True):
            os.close(of_bash)
            said = b""
            while b"ready" not in said:  # keys typed earlier are the terminal's
                said += os.read(ours, 1000)
            for typed in LINES:
                os.write(ours, (typed + SHOW + CLEAR).encode())
            os.write(ours, END.encode())
            try:
                while os.read(ours, 1000):
                    pass
            except OSError:  # bash has closed the terminal
                pass
        os.close(ours)
        lines = [line.rstrip() for line in (self.folder / "lines").read_text().splitlines()]
        self.assertEqual(list(LINES.values()), lines)
