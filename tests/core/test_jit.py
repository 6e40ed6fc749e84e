"""Compiling is announced on a terminal, once, and only when something is compiled."""

import os
import pty
import subprocess
import sys

import pytest

pytest.importorskip("numba")

_PROGRAM = """
from board_envs import _jit
_jit._PATIENCE = 0.0

@_jit.kernel
def total(n):
    s = 0
    for i in range(n):
        s += i
    return s

@_jit.kernel
def double(n):
    return 2 * n

assert total(5) == 10 and double(4) == 8
"""


def _told(program: str, cache: str, terminal: bool) -> str:
    """What a process writes to its standard error, a terminal or a pipe."""
    reader, writer = pty.openpty() if terminal else os.pipe()
    try:
        subprocess.run(
            [sys.executable, program], check=True, stderr=writer, env={**os.environ, "NUMBA_CACHE_DIR": cache}
        )
        os.write(writer, b"end")
        told = b""
        while not told.endswith(b"end"):
            told += os.read(reader, 4096)
    finally:
        os.close(reader)
        os.close(writer)
    return told[:-3].decode()


def test_compiling_is_told_once_on_a_terminal_and_not_when_it_is_on_disk(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    assert _told(str(program), str(tmp_path / "other"), terminal=False) == ""
    assert _told(str(program), str(tmp_path / "cache"), terminal=True) == "compiling: once, then kept on disk ...\r\n"
    assert _told(str(program), str(tmp_path / "cache"), terminal=True) == ""
