"""Games of people: WTHOR files made here byte by byte."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from board_agents.arena.records.game_record import Ending, RecordError
from board_agents.arena.records.outside_forms import export_games, import_games
from board_agents.arena.records.text_formats import read_records, write_records
from board_envs import make_game
from board_envs.games.reversi import score
from board_envs.random import Stream

GAME = make_game("reversi")
WIPED_OUT = "d3c3b3d2e1d6d7e3f4"


def random_moves(seed):
    """A whole game as text moves, forced passes on the way or not."""
    stream, state, moves = Stream.seeded(seed), GAME.initial_state(), []
    while not GAME.is_terminal(state):
        legal = GAME.legal_actions(state)
        action = legal[stream.below(len(legal))]
        moves.append(GAME.action_to_text(state, action))
        state = GAME.step(state, action)
    return moves, (64 + score(state, "empties-to-winner")) // 2


def wthor(games, *, size=8, count=None):
    data = struct.pack("<4BiHH4B", 20, 26, 1, 2, len(games) if count is None else count, 0, 1999, size, 0, 24, 0)
    for moves, black_score in games:
        squares = bytes(10 * int(move[1]) + "abcdefgh".index(move[0]) + 1 for move in moves)
        data += struct.pack("<3H2B60s", 7, 11, 12, black_score, 32, squares)
    return data


def read_wthor(source, report):
    for form, record in import_games(source, GAME, report):
        assert form == "wthor"
        yield record


@pytest.fixture
def file(tmp_path):
    def write(data):
        path = tmp_path / "games.wtb"
        path.write_bytes(data)
        return str(path)

    return write


def test_games_are_replayed_to_their_ends(file, tmp_path):
    games = [random_moves(seed) for seed in range(5)]
    split = GAME.notation.split_moves(WIPED_OUT)
    games.append((split, 64))  # black has all discs: the empty squares are the winner's
    remarks = []
    records = list(read_wthor(file(wthor(games)), remarks.append))
    assert remarks == []
    for record, (moves, _) in zip(records, games, strict=True):
        states = record.replay()
        assert record.ending is Ending.FINISHED
        assert [GAME.action_to_text(s, a) for s, a in zip(states, record.actions, strict=False)] == moves
    assert records[0].agents == ("player 11 (1999)", "player 12 (1999)")
    target = tmp_path / "games.jsonl"
    write_records(str(target), records)
    assert list(read_records(str(target))) == records


def test_unfinished_games_and_wrong_scores_are_kept_and_illegal_ones_left_out(file):
    moves, black = random_moves(1)
    games = [(moves, black), (moves[:20], 40), (moves, black + 1), (["d3", "d3"], 32), (moves, black)]
    remarks = []
    records = list(read_wthor(file(wthor(games, size=0)), remarks.append))
    assert [(remark.line, remark.kind) for remark in remarks] == [(2, "unfinished"), (3, "result"), (4, "left out")]
    assert "stated, its moves lead to" in remarks[1].text
    assert "ply 2 (d3): not legal" in remarks[2].text
    assert [record.opening_number for record in records] == [1, 2, 3, 5]
    assert records[1].ending is Ending.UNFINISHED
    assert records[1].detail == "unfinished after 20 moves"
    assert records[2].ending is Ending.FINISHED
    for record in records:
        record.replay()


def test_a_byte_that_is_no_square_is_told(file):
    data = bytearray(wthor([random_moves(2)]))
    data[16 + 8 + 3] = 99
    remarks = []
    assert list(read_wthor(file(bytes(data)), remarks.append)) == []
    assert "byte 99" in remarks[0].text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes"),
        (wthor([random_moves(1)])[:-1], "but 1 games"),
        (wthor([random_moves(1)], count=2), "but 2 games"),
        (wthor([], count=-1), "but -1 games"),
        (wthor([random_moves(1)], size=10), "size 10"),
    ],
)
def test_other_and_cut_files_are_refused(file, data, message):
    with pytest.raises(RecordError, match=message):
        list(read_wthor(file(data), lambda remark: None))


def test_records_keep_a_file_byte_for_byte(file, tmp_path):
    """To the project's records and back, unfinished games and wrong scores among them."""
    moves, black = random_moves(1)
    source = file(wthor([(moves, black), (moves[:20], 40), (moves, black + 1), random_moves(5)]))
    kept, target = str(tmp_path / "kept.jsonl"), tmp_path / "again.wtb"
    write_records(kept, read_wthor(source, lambda remark: None))
    assert export_games(target, read_records(kept), "wthor") == 4
    assert target.read_bytes() == Path(source).read_bytes()
    assert not target.with_suffix(".jou").exists()


@pytest.mark.parametrize(("form", "name"), [("wthor", "games.wtb"), ("sgf", "games.sgf"), ("moves", "games.txt")])
def test_a_file_of_another_kind_is_not_overwritten(file, tmp_path, form, name):
    records = list(read_wthor(file(wthor([random_moves(1)])), print))
    target = tmp_path / name
    target.write_text("a diary\n", encoding="utf-8")
    with pytest.raises(FileExistsError, match=name):
        export_games(target, records, form)
    assert target.read_text(encoding="utf-8") == "a diary\n"
    assert export_games(target, records, form, overwrite=True) == 1
    assert export_games(target, records, form) == 1  # a file of this form is replaced


def test_names_beside_a_file_are_not_overwritten(file, tmp_path):
    records = [replace(record, headers={}) for record in read_wthor(file(wthor([random_moves(1)])), print)]
    target = tmp_path / "new.wtb"
    target.with_suffix(".jou").write_bytes(b"somebody's")
    with pytest.raises(RecordError, match=r"new\.jou exists"):
        export_games(target, records, "wthor")
    assert not target.exists()
    assert target.with_suffix(".jou").read_bytes() == b"somebody's"
    target.with_suffix(".jou").unlink()
    export_games(target, records, "wthor")
    assert sorted(path.name for path in tmp_path.glob("new.*")) == ["new.jou", "new.trn", "new.wtb"]
    assert [record.agents for record in read_wthor(target, print)] == [records[0].agents]
