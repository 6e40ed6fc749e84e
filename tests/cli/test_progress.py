import os
import pty
import select
import subprocess
import sys

from cli_common import PROGRAM


def test_progress_goes_to_a_terminal_and_results_to_stdout(tmp_path):
    master, slave = pty.openpty()
    arguments = ["tournament", "nim", "-a", "random,greedy", "-n", "20", "--json"]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=slave, close_fds=True
    ) as process:
        os.close(slave)
        seen = b""
        while True:
            select.select([master], [], [], 120)
            try:
                data = os.read(master, 4096)
            except OSError:  # what Linux says when the other side is closed
                break
            if not data:
                break
            seen += data
        out = process.stdout.read()
    os.close(master)
    assert process.returncode == 0
    assert b"games" in seen
    assert b"20/20" in seen
    assert b"left" in seen
    assert out.startswith(b"{")
    assert b"\x1b" not in out
