"""The soak (see `soak.py`) at a thousandth of its size, and its own checks."""

import sys
import time
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "games"))
pytest.importorskip("pyspiel")
pytest.importorskip("numba")

import soak
import soak_common
import soak_files
import soak_kills
import soak_rules

from board_envs.types import PositionError

SCALE = 0.001


@pytest.mark.parametrize("part", ["rules", "texts", "files"])
def test_a_thousandth_finds_nothing(part):
    jobs = list(soak.jobs([part], seed=1, scale=SCALE))
    assert [fault for job in jobs for fault in job()] == []


@pytest.mark.parametrize("name", ["tournament, games.sqlite, 2 workers", "Awalé tables", "Connect Four book"])
def test_a_killed_command_goes_on(name):
    assert soak_kills.Kill(name)("1", 1) == []


def test_the_command_tells_what_it_did(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["soak.py", "--scale", "0.0001", "--only", "rules"])
    assert soak.main() == 0
    assert "rules: reversi: 100 in" in capsys.readouterr().out


def test_a_wrong_rule_is_found(monkeypatch):
    game = soak_rules.make_game("connect-four")
    monkeypatch.setattr(type(game), "returns", lambda self, state: (0, 0))
    assert "AssertionError" in soak_rules.Play("connect four")("1", 200)[0]


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (ZeroDivisionError("x"), "ZeroDivisionError"),
        (PositionError(""), "0 characters"),
        (MemoryError(), "MemoryError"),
        (PositionError("a"), ""),
    ],
)
def test_errors_that_are_none_of_the_projects_are_faults(raised, told):
    def read():
        raise raised

    fault = soak_common.fault_of(read, (PositionError,))
    assert told in fault
    assert bool(fault) == bool(told)


def test_a_reader_that_does_not_end_is_a_fault(monkeypatch):
    monkeypatch.setattr(soak_common, "SECONDS", 0.2)
    assert "took more than" in soak_common.fault_of(lambda: time.sleep(5), (Exception,))


def test_a_reader_that_changes_its_file_is_a_fault(monkeypatch):
    def make(folder):
        (folder / "a").write_bytes(b"content")
        return folder / "a"

    form = soak_files.Format(make, lambda path: path.write_bytes(b"other"))
    monkeypatch.setitem(soak_files.FORMATS, "odd", form)
    assert "reading changed the folder" in soak_files.Read("odd")("1", 3)[0]


def test_damage_is_the_same_for_the_same_seed():
    for damage, what in ((soak_common.damaged_text, ("1. d3 c5", "X")), (soak_common.damaged_bytes, (b"content" * 9,))):
        results = [[damage(Random(seed), *what) for seed in range(50)] for _ in range(2)]
        assert results[0] == results[1]
        assert len(set(results[0])) > 25


def test_a_lost_game_is_found(monkeypatch):
    name = "tournament, games.jsonl, 1 workers"
    wrong = iter(range(100))
    monkeypatch.setitem(soak_kills.TARGETS, name, soak_kills.Target("pass", ("{}",), lambda folder: next(wrong)))
    assert "ends with another result" in soak_kills.Kill(name)("1", 1)[0]
