"""WTHOR files: the bytes of real and made files come back, names included; what does not fit is refused."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board_envs import make_game
from board_envs.forms import Item, find_form, read_file
from board_envs.games.reversi import wthor
from board_envs.types import PositionError

GAME = make_game("reversi")
FORM = find_form(GAME, "wthor")
DATA = Path(__file__).parent.parent / "data" / "forms"


def names_file(names, width, *, date=(20, 24, 3, 1)):
    """A file of names byte by byte; garbage may follow a name's zero byte."""
    data = struct.pack("<4BiHH4B", *date, 0, len(names), 0, 0, 0, 0, 0)
    return data + b"".join(name.encode("latin-1").ljust(width, b"\0") for name in names)


@pytest.mark.parametrize(("year", "games", "size"), [(1977, 12, 832), (1979, 11, 764), (1980, 160, 10896)])
def test_real_files_come_back_byte_for_byte(year, games, size):
    path = DATA / f"WTH_{year}.wtb"
    data = path.read_bytes()
    assert len(data) == size
    header, found = wthor.read_games(data)
    assert (header.game_year, header.games, len(found), header.depth) == (year, games, games, 24)
    assert wthor.write_games(header, found) == data
    items = list(read_file(GAME, path))
    assert [(item.form, item.error, item.remark) for item in items] == [("wthor", "", "")] * games
    assert all(item.margin in (None, GAME.margin(item.state)) for item in items)
    assert FORM.write_file(items) == {".wtb": data}


def test_a_record_keeps_what_a_file_says_of_it():
    first = next(read_file(GAME, DATA / "WTH_1977.wtb"))
    assert first.players == ("player 346 (1977)", "player 843 (1977)")
    assert dict(first.headers) == {
        "Date": "1977", "BlackScore": "34", "TheoreticalScore": "41", "TheoreticalDepth": "24",
        "TournamentNumber": "1", "BlackNumber": "346", "WhiteNumber": "843", "FileDate": "2007-05-22",
    }  # fmt: skip


def test_names_beside_a_file(tmp_path):
    path = tmp_path / "WTH_1977.WTB"
    path.write_bytes((DATA / "WTH_1977.wtb").read_bytes())
    players = [f"Player Number {number}" for number in range(1100)]
    players[346], players[843] = "Müller Änne", "O'Neill\0garbage"
    (tmp_path / "WTHOR.JOU").write_bytes(names_file(players, 20))
    (tmp_path / "WTHOR.TRN").write_bytes(names_file(["Elsewhere", "First Cup"], 26))
    first = next(read_file(GAME, path))
    assert (first.players, first.headers["Event"]) == (("Müller Änne", "O'Neill"), "First Cup")
    assert FORM.write_file(list(read_file(GAME, path)))[".wtb"] == path.read_bytes()
    (tmp_path / "wth_1977.jou").write_bytes(names_file(["x"] * 1100, 20))  # the file's own goes before
    assert next(read_file(GAME, path)).players == ("x", "x")
    for name in ("WTHOR.JOU", "WTHOR.TRN"):
        data, width = (tmp_path / name).read_bytes(), 20 if name.endswith("JOU") else 26
        assert wthor.write_names(wthor.read_names(data, width)) == data
    (tmp_path / "wth_1977.jou").write_bytes(names_file(["x"] * 9, 20)[:-1])
    with pytest.raises(PositionError, match=r"wth_1977\.jou: 195 bytes, but 9 names, as the header says, are 196"):
        next(read_file(GAME, path))


def test_two_files_of_names_that_could_both_be_meant_are_not_taken(tmp_path):
    path = tmp_path / "games.wtb"
    path.write_bytes((DATA / "WTH_1977.wtb").read_bytes())
    for name in ("a.jou", "b.jou"):
        (tmp_path / name).write_bytes(names_file(["x"] * 1100, 20))
    assert next(read_file(GAME, path)).players == ("player 346 (1977)", "player 843 (1977)")
    (tmp_path / "b.jou").unlink()
    assert next(read_file(GAME, path)).players == ("x", "x")


def played(moves="f5d6c3", **more):
    actions = tuple(GAME.read_moves(moves))
    return Item(state=GAME.from_moves(moves), actions=actions, **more)


def write(tmp_path, items, name="new"):
    for ending, data in FORM.write_file(items).items():
        (tmp_path / name).with_suffix(ending).write_bytes(data)
    return tmp_path / f"{name}.wtb"


def test_games_of_ours_get_numbers_and_files_of_names(tmp_path):
    wiped_out = "d3c3b3d2e1d6d7e3f4"
    items = [
        played(players=("Ada", "Blaise"), headers={"Event": "Cup", "Date": "1999.05.06"}),
        played(wiped_out, players=("Blaise", "Ada"), headers={"Date": "1999"}),
    ]
    path = write(tmp_path, items)
    header, games = wthor.read_games(path.read_bytes())
    assert (header.game_year, header.depth, header.size) == (1999, 0, 8)
    assert [(game.tournament, game.black, game.white) for game in games] == [(0, 0, 1), (1, 1, 0)]
    assert games[1].score == 64  # all empty squares to the winner
    again = list(read_file(GAME, path))
    assert [item.players for item in again] == [("Ada", "Blaise"), ("Blaise", "Ada")]
    assert [item.headers["Event"] for item in again] == ["Cup", "?"]
    assert [item.actions for item in again] == [item.actions for item in items]
    assert (again[1].winner, again[1].margin) == (0, 13)
    assert FORM.write_file(again)[".wtb"] == path.read_bytes()


def test_a_result_that_was_stated_goes_before_that_of_the_moves(tmp_path):
    items = [
        played(headers={"Result": told}) for told in ("W+40 resigned", "B+64 timeout", "B resigned", "draw agreed")
    ]
    _, games = wthor.read_games(write(tmp_path, items).read_bytes())
    assert [game.score for game in games] == [12, 64, 62, 32]  # after f5d6c3 white has 2 discs
    again = list(read_file(GAME, tmp_path / "new.wtb"))
    assert [item.winner for item in again] == [1, 0, 0, 2]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([played(headers={"Date": "1999"}), played(headers={"Date": "2000"})], "one year, not of 1999, 2000"),
        ([replace(played(), start=GAME.from_moves("f5"))], "game 1: .* usual start"),
        ([played(players=("x" * 20, "y"))], "does not fit: WTHOR files hold 19 characters"),
        ([played(players=("名", "y"))], "Latin-1"),
        ([played(headers={"TheoreticalScore": "x"})], "TheoreticalScore is 'x', not a whole number"),
        ([played(headers={"TheoreticalScore": "256"})], "game 1 does not fit"),
        ([played(headers={"FileDate": "soon"})], "FileDate is 'soon'"),
        ([played(headers={"AfterMoves": "zz"})], "AfterMoves is 'zz'"),
        (
            [played(headers=dict.fromkeys(("TournamentNumber", "BlackNumber", "WhiteNumber"), "1")), played()],
            "game 2 has no numbers of players",
        ),
    ],
)
def test_what_a_file_cannot_hold_is_refused(items, message):
    with pytest.raises(PositionError, match=message):
        FORM.write_file(items)


def test_other_sizes_are_refused():
    small = make_game("reversi", size=6)
    with pytest.raises(PositionError, match="8 x 8, but this game has size=6"):
        list(read_file(small, DATA / "WTH_1977.wtb"))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_bytes_are_read_and_written_or_refused(data, tmp_path_factory):
    """Every byte may be wrong: the file is refused, games are left out, or it comes back byte for byte."""
    raw = bytearray((DATA / "WTH_1979.wtb").read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: len(raw) - data.draw(st.sampled_from([0, 0, 0, 1, 68]))]
    path = tmp_path_factory.mktemp("wthor") / "x.wtb"
    path.write_bytes(raw)
    try:
        items = list(read_file(GAME, path))
    except PositionError:
        return
    if not any(item.error for item in items):
        assert FORM.write_file(items)[".wtb"] == bytes(raw)
