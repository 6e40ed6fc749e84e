"""Compiled code on disk: found again, never stale, whoever wrote the rules, and whatever lies in its folder."""

import json
import os
import subprocess
import sys
import time

import pytest

from board_envs import _code_cache

pytest.importorskip("numba")

from cache_hammer import hammer

RULES = """
import numba.extending
import numpy as np
import third_constants
from board_envs._jit import compiled_as, instruction, jitable

LIMIT = 100
TABLE = np.array([1, 2, 3])

@jitable
def by_global(value):
    return value + 1

def _form(value):
    return value + 20

@compiled_as(_form)
def by_form(value):
    return value + 20

def by_raw_overload(value):
    return value + 300

@numba.extending.overload(by_raw_overload)
def _choose(value):
    return lambda value: value + 300

def _emit(context, builder, signature, args):
    return builder.add(args[0], args[0].type(4000))

@instruction("int64(int64)", _emit)
def by_instruction(value):
    return value + 4000

def make(amount):
    @jitable
    def by_closure(value):
        return value + amount * 50000

    return by_closure

@jitable
def total(value):
    return by_instruction(by_raw_overload(by_form(by_global(value)))) + LIMIT + TABLE[0] + third_constants.SHIFT
"""

PROGRAM = """
import json
from board_envs._jit import kernel
import third_rules

def make():
    total, closure = third_rules.total, third_rules.make(1)

    def run(value):
        return closure(total(value))

    return kernel(run)

run = make()
there = run.is_on_disk()
answer = run(0)
stats = run.dispatcher.stats
print(json.dumps([int(answer), sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), there]))
"""
RIGHT = 1 + 20 + 300 + 4000 + 50000 + 100 + 1 + 7_000_000


class Third:
    """A package of somebody else's, and the processes that use it with one folder of compiled code."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"
        self.rules = folder / "third_rules.py"
        self.rules.write_text(RULES)
        self.constants = folder / "third_constants.py"
        self.constants.write_text("SHIFT = 7_000_000\n")

    def run(self, *flags, **environment):
        run = subprocess.run(
            [sys.executable, "-B", "-W", "error", *flags, "-c", PROGRAM],
            env={**os.environ, "PYTHONPATH": str(self.folder), "BOARD_ENVS_CACHE_DIR": str(self.cache), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        assert run.stderr == ""
        return json.loads(run.stdout)

    def files(self):
        return sorted(self.cache.glob("*.code"))


@pytest.fixture
def third(tmp_path):
    return Third(tmp_path)


def test_code_is_found_again_and_an_edit_of_anything_reached_is_not_missed(third):
    assert third.run() == [RIGHT, 0, 1, False]
    assert third.run() == [RIGHT, 1, 0, True]
    edits = [
        ("value + 1\n", "value + 2\n", 1),
        ("def _form(value):\n    return value + 20", "def _form(value):\n    return value + 21", 1),
        ("lambda value: value + 300", "lambda value: value + 301", 1),
        ("type(4000)", "type(4001)", 1),
        ("amount * 50000", "amount * 50001", 1),
        ("LIMIT = 100", "LIMIT = 101", 1),
        ("array([1, 2", "array([2, 2", 1),
    ]
    for old, new, more in edits:
        assert RULES.count(old) == 1
        third.rules.write_text(RULES.replace(old, new))
        assert third.run()[:3] == [RIGHT + more, 0, 1], f"after the edit to {new!r}"
        third.rules.write_text(RULES)
        assert third.run() == [RIGHT, 1, 0, True], "after the revert"
    third.constants.write_text("SHIFT = 7_000_001\n")
    assert third.run()[:3] == [RIGHT + 1, 0, 1]
    # What compiled code does not depend on changes nothing: comments, and functions that are not reached.
    third.constants.write_text("SHIFT = 7_000_000\n")
    third.rules.write_text("# a remark\n" + RULES + "\n\ndef other():\n    return 1\n")
    assert third.run() == [RIGHT, 1, 0, True]


def test_settings_of_the_compiler_are_part_of_the_key(third):
    third.run()
    assert third.run(NUMBA_OPT="1")[:3] == [RIGHT, 0, 1]
    assert third.run(NUMBA_CPU_NAME="generic")[:3] == [RIGHT, 0, 1]
    assert third.run()[:3] == [RIGHT, 1, 0]


def test_damaged_cut_and_foreign_entries_are_misses(third):
    third.run()
    (entry,) = third.files()
    good = entry.read_bytes()
    middle = len(good) // 2
    for damaged in (
        b"",
        good[:20],
        good[:-1],
        good + b"x",
        good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
        b"\x89PNG" + good,
        os.urandom(1000),
    ):
        entry.write_bytes(damaged)
        assert third.run()[:3] == [RIGHT, 0, 1]
        assert third.files() == [entry]
    assert third.run()[:3] == [RIGHT, 1, 0], "the entry was written anew"
    # The entry of another kernel under this one's name.
    third.rules.write_text(RULES.replace("LIMIT = 100", "LIMIT = 101"))
    third.run()
    (other,) = set(third.files()) - {entry}
    entry.write_bytes(other.read_bytes())
    third.rules.write_text(RULES)
    assert third.run()[:3] == [RIGHT, 0, 1]


def test_folders_that_cannot_be_used(third, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    for folder in (blocked, blocked / "below"):
        for _ in range(2):
            assert third.run(BOARD_ENVS_CACHE_DIR=str(folder))[:3] == [RIGHT, 0, 1]
    third.cache.mkdir()
    third.run()
    (entry,) = third.files()
    entry.unlink()
    entry.mkdir()
    assert third.run()[:3] == [RIGHT, 0, 1], "a folder in an entry's place"
    assert [path.name for path in third.cache.iterdir()] == [entry.name], "nothing is left lying about"


def test_the_folder_belongs_to_its_user(third):
    third.run()
    assert third.cache.stat().st_mode & 0o777 == 0o700


def test_where_the_folder_is(monkeypatch, tmp_path):
    for name in ("BOARD_ENVS_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", "/home/ann")
    assert _code_cache.folder().as_posix() == "/home/ann/.cache/board_envs/compiled"
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert _code_cache.folder().as_posix() == "/caches/board_envs/compiled"
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/numba")
    assert _code_cache.folder().as_posix() == "/numba/board_envs"
    monkeypatch.setenv("BOARD_ENVS_CACHE_DIR", "/own")
    assert _code_cache.folder().as_posix() == "/own"


NAME, STEM = "run", "0" * 32


def test_unused_entries_go_and_used_ones_stay(monkeypatch, tmp_path):
    monkeypatch.setenv("BOARD_ENVS_CACHE_DIR", str(tmp_path))
    old, used, new = (letter * 64 for letter in "abc")
    for digest in (old, used, new):
        _code_cache.save(NAME, STEM, digest, b"code")
    stranger = tmp_path / "photo.jpg"
    partial = tmp_path / "part-1.code"
    for path in (stranger, partial):
        path.write_bytes(b"x")
    long_ago = time.time() - 31 * 86_400
    for path in tmp_path.iterdir():
        if new not in path.name:
            os.utime(path, (long_ago, long_ago))
    assert _code_cache.load(NAME, STEM, used) == b"code"
    _code_cache.prune()
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{NAME}-{STEM}-{used}.code",
        f"{NAME}-{STEM}-{new}.code",
        "photo.jpg",
    }
    assert _code_cache.exists(NAME, STEM)
    assert not _code_cache.exists(NAME, "1" * 32)
    count, size = _code_cache.clear()
    assert count == 2
    assert size > 2 * len(b"code")
    assert [path.name for path in tmp_path.iterdir()] == ["photo.jpg"]
    assert _code_cache.entries() == []


def test_a_first_save_removes_what_was_unused(third):
    third.cache.mkdir()
    stale = third.cache / f"{NAME}-{STEM}-{'d' * 64}.code"
    stale.write_bytes(b"x")
    os.utime(stale, (0, 0))
    third.run()
    assert not stale.exists()


def test_asking_what_is_on_disk_does_not_import_numba(tmp_path):
    program = (
        "import sys\n"
        "from board_envs import make_game\n"
        "from board_envs.envs.kernels import make_step\n"
        "print(make_step(make_game('nim')).is_on_disk(), 'numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split()[1] == "False"


FORKED = """
import os, sys
from board_envs._jit import jitable, kernel
import numba

def make(size):
    @jitable
    def step(value):
        # Long enough to be called instead of copied into its callers.
        for _ in range(value % 7):
            value = value * 3 % 1013 + 5 if value % 2 else value * 5 % 2027 + 3
        for _ in range(value % 5):
            value = value * 7 % 3011 + 9 if value % 3 else value * 11 % 4013 + 7
        for _ in range(value % 11):
            value = value * 13 % 5009 + 11 if value % 4 else value * 17 % 6007 + 13
        return value * 100 + size

    def game(value):
        return step(step(value) % 50) + step(value + 1)

    return kernel(game)

warm = make(1)
warm(0)
if sys.argv[1] == "fork":
    children = []
    for size in (10, 20):
        child = os.fork()
        if child == 0:
            os._exit(0 if make(size)(3) == make(size).function(3) else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
else:
    kernels = [make(size) for size in (10, 20)]
    answers = [kernel(3) for kernel in kernels]
    assert answers == [kernel.function(3) for kernel in kernels], answers
    assert not any(sum(kernel.dispatcher.stats.cache_misses.values()) for kernel in kernels)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_functions_that_forked_children_compiled_are_not_taken_for_each_other(tmp_path):
    """numba numbers functions by a count that forked children share; the number is part of their symbols."""
    for how in ("fork", "load"):
        environment = {**os.environ, "BOARD_ENVS_CACHE_DIR": str(tmp_path)}
        run = subprocess.run(
            [sys.executable, "-c", FORKED, how], env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr


def test_processes_that_compile_sizes_at_once_share_a_folder(tmp_path):
    assert hammer(tmp_path, processes=4, sizes=3) == []
