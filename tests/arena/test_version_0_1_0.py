"""Files that version 0.1.0 wrote stay readable; how they were made stands beside them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from board_agents import make_oracle
from board_agents.arena.records.text_formats import read_records
from board_agents.arena.statistics.quality import judge_decision
from board_agents.arena.suites.suite_files import read_suite
from board_agents.cli import main
from board_envs import make_game

FOLDER = Path(__file__).parents[1] / "data" / "version_0_1_0"
GAMES = ("reversi", "connect_four", "awale", "nim")


def lines_of(name):
    """Return what a file of lines says, read by JSON alone."""
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]


def fields_of(record, told):
    """Return those fields of a record that a line tells, as JSON gives them."""
    found = json.loads(record.to_json())
    return {key: found[key] for key in told if key not in ("format", "crc32")}


def told(data):
    return {key: value for key, value in data.items() if key not in ("format", "crc32")}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("form", ["jsonl", "txt", "parquet", "db"])
def test_records_of_0_1_0(game, form, tmp_path):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    if form == "db":
        pytest.importorskip("sqlalchemy")
    wanted = lines_of(f"{game}.jsonl")
    assert len(wanted) == 4
    assert {line["version"] for line in wanted} == {"0.1.0"}
    name = "games.db" if form == "db" else f"{game}.{form}"
    source = shutil.copy(FOLDER / name, tmp_path)
    records = list(read_records(str(source), game if form == "db" else None))
    assert [fields_of(record, line) for record, line in zip(records, wanted, strict=True)] == list(map(told, wanted))
    assert Path(source).read_bytes() == (FOLDER / name).read_bytes()


def test_the_database_of_0_1_0_goes_on(tmp_path):
    pytest.importorskip("sqlalchemy")
    from sqlalchemy import select

    from board_agents.arena.records.database import Store
    from board_agents.arena.records.schema import PositionRow

    source = shutil.copy(FOLDER / "games.db", tmp_path)
    with Store(source) as store:
        assert store.count() == 16
        assert store.count("nim") == 4
        positions = store.rows(select(PositionRow.__table__).order_by(PositionRow.id))
        assert len(positions) == 22
        for row in positions:
            heaps = [int(heap) for heap in row["position"].split()[0].split(",")]
            wins = np.bitwise_xor.reduce(heaps) != 0  # Bouton
            assert row["evaluation"] == row["active"] * (1 if wins else -1)
        assert store.add(read_records(str(FOLDER / "nim.jsonl")), "nim") == 0
        assert store.add(read_records(str(FOLDER / "nim.jsonl")), "again") == 4


def test_a_saved_game_of_0_1_0_goes_on(capsys, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda _prompt: "quit")
    assert main(["play", "--load", str(FOLDER / "connect_four.saved"), "--opponent", "random", "--seed", "1"]) == 0
    assert "-------/-------/-------/-------/-------/XX--OO- 0" in capsys.readouterr().out


def test_awale_tables_of_0_1_0():
    pytest.importorskip("numba")
    from board_agents.games.awale.table_files import folder_of, path_of, read_level
    from board_agents.games.awale.tablebase import Tables

    with Tables.open(4, FOLDER / "tables") as tables, Tables.solve(4, 5) as solved:
        assert tables.total == 5
        assert tables.statistics == solved.statistics
        assert [level.configurations for level in tables.statistics] == [1, 8, 36, 120, 330, 792]
        for level in range(6):
            _, scores, depths = read_level(path_of(folder_of(4, FOLDER / "tables"), level), 4, level)
            for rank in range(len(scores)):
                position = solved.configuration(level, rank)
                assert scores[rank] == solved.probe(position)
                assert depths[rank] == solved.probe_depth(position)


def test_the_connect_four_book_of_0_1_0():
    from board_agents.games.connect_four.opening_book import UNKNOWN, Book, BookError

    game = make_game("connect-four", rows=4, columns=5, connect=4)
    path = FOLDER / "connect_four_4x5.book"
    book = Book.load(path)
    assert (book.size, book.plies, book.missing) == ((4, 5, 4), 4, 0)
    partial = Book.load(path.with_name(path.name + ".partial"), partial=True)
    assert partial.scores[4][:3].tolist() == book.scores[4][:3].tolist()
    assert (partial.scores[4][3:] == UNKNOWN).all()
    with pytest.raises(BookError, match="unfinished"):
        Book.load(path.with_name(path.name + ".partial"))
    exact = make_oracle(game, "exhaustive")
    for moves in ("3311", "1234", "3333", "5115"):
        state = game.from_moves(moves)
        wanted = max(exact.action_values(state).values())
        assert np.sign(book.get(state)) == np.sign(wanted)


def test_the_suite_of_0_1_0():
    suite = read_suite(FOLDER / "nim.suite")
    assert len(suite.positions) == 6
    for position in suite.positions:
        state = suite.game.parse(position.position)
        assert set(position.values) == set(suite.game.legal_actions(state))
        for action, value in position.values.items():
            after = suite.game.format(suite.game.step(state, action)).split()[0]
            assert value == (1 if np.bitwise_xor.reduce([*map(int, after.split(","))]) == 0 else -1)
        best = max(position.values, key=position.values.__getitem__)
        assert judge_decision(suite.game, state, best, position.values, position.ply).regret == 0


def test_reversi_weights_of_0_1_0():
    from board_agents.games.reversi.pattern_evaluation import _QUANTUM, PHASES, Evaluation

    evaluation = Evaluation.load(FOLDER / "reversi.weights")
    assert evaluation.facts == {"made": "for a test"}
    assert evaluation.bias.tolist() == list(range(65))
    wanted = np.zeros_like(evaluation.weights)
    wanted[:, ::1000] = 5 * _QUANTUM
    assert evaluation.weights.shape[0] == PHASES
    assert np.array_equal(evaluation.weights, wanted)
