"""The game database on SQLite and on a real PostgreSQL server.

BOARD_ENVS_POSTGRES names the server's URL; `.ci/with-postgres pytest ...` starts one and sets it.
"""

import dataclasses
import itertools
import os
import sqlite3

import pytest

pytest.importorskip("sqlalchemy")

from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from board_agents import make_agent, make_oracle
from board_agents.arena import Ending, RecordError, play_game, tournament
from board_agents.arena.records.database import Store, StoreError, board_code, open_url, square_of
from board_agents.arena.records.queries import (
    QUERIES,
    analyses_of,
    best_squares,
    deeper_than,
    mean_score,
    results,
    wins,
)
from board_agents.arena.records.schema import Base, ExactCode, GameRow, Meta, PositionRow
from board_envs import make_game

POSTGRES = os.environ.get("BOARD_ENVS_POSTGRES")
NUMBER = itertools.count()
GAMES = [
    make_game("nim"),
    make_game("connect-four", rows=4, columns=5, connect=3),
    make_game("reversi", size=4),
    make_game("awale", pits=3, seeds=2),
]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """An empty database: a new file, or a new schema of the server."""
    if request.param == "sqlite":
        yield str(tmp_path / "games.db")
        return
    if POSTGRES is None:
        pytest.skip("BOARD_ENVS_POSTGRES names no server")
    psycopg = pytest.importorskip("psycopg")
    name = f"test_{os.getpid()}_{next(NUMBER)}"
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield str(open_url(POSTGRES).update_query_dict({"options": f"-csearch_path={name}"}))
        connection.execute(f"DROP SCHEMA {name} CASCADE")


def some_records(game, games=6, agents=("random", "greedy")):
    return tournament(game, list(agents), games=games, seed=3).records


def exhaustive(game):
    return make_oracle(game, "exhaustive")


def write_one_and_fail(writer, record):
    with writer:
        writer.append(record)
        raise KeyError


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_games_come_back_as_they_went_in(url, game):
    records = some_records(game)
    with Store(url) as store:
        assert store.add(records, "first") == len(records)
    with Store(url) as store:
        back = list(store.records("first"))
        assert back == list(records)
        assert [r.seconds for r in back] == [r.seconds for r in records]
        assert list(store.records("other")) == []
        assert store.count() == len(records)


def test_faults_unfinished_games_and_other_starts_come_back_too(url):
    nim = GAMES[0]
    records = [
        play_game(nim, [lambda observation: 99, "random"], names=("wild", "random")),
        play_game(nim, ["random", "random"], names=("a", "b"), start="1,4,2 1", seeds=(2**63 - 1, 5)),
        play_game(nim, ["random", "random"], names=("a", "b"), max_plies=2, opening=(0, 4), opening_number=7),
    ]
    assert [r.ending for r in records] == [Ending.ILLEGAL, Ending.FINISHED, Ending.UNFINISHED]
    with Store(url) as store:
        store.add(records, "odd")
        assert list(store.records()) == records
        assert len(store.rows(QUERIES["faults"]())) == 1
        assert store.rows(QUERIES["runs"]())[0]["games"] == 3


def test_a_game_of_a_run_is_kept_once(url):
    records = some_records(GAMES[0], games=10)
    with Store(url) as store:
        assert store.add(records[:4], "run") == 4
        assert store.add(records, "run", batch=3) == 6
        assert store.add(records, "run") == 0
        assert store.add(records, "another") == 10
        assert store.count("run") == 10
        assert store.count() == 20
        assert sorted(r.key for r in store.records("run")) == sorted(r.key for r in records)


def test_a_writer_writes_batches_and_the_rest_at_the_end(url):
    records = some_records(GAMES[0], games=5)
    with Store(url) as store:
        with store.writer("run", batch=2) as writer:
            for record in records[:3]:
                writer.append(record)
            assert store.count() == 2
        assert (store.count(), writer.new) == (3, 3)
        with pytest.raises(KeyError):
            write_one_and_fail(store.writer("run"), records[3])
        assert store.count() == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"final": "0,0,0 0"}, "replays to"),
        ({"winner": 2}, "winner 2"),
        ({"margin": 7}, "states margin 7"),
        ({"actions": (11, 11)}, "ply 2"),
    ],
)
def test_a_record_that_does_not_replay_is_refused_with_its_whole_batch(url, change, message):
    good, bad = some_records(GAMES[0], games=2)
    with Store(url) as store:
        with pytest.raises(RecordError, match=message):
            store.add([good, dataclasses.replace(bad, **change)], "run")
        assert store.count() == 0


def test_a_game_altered_in_the_database_is_refused_when_read(url):
    with Store(url) as store:
        store.add(some_records(GAMES[0], games=1), "run")
        with store.engine.begin() as connection:
            connection.execute(text("UPDATE games SET moves = '1:1 2:9'"))
        with pytest.raises(RecordError, match="game 1 of the database, move 2"):
            list(store.records())


def test_codes_are_exact_and_in_order(url):
    codes = [0, 1, (3**64 - 1) // 2, 1716841910146156194489921515200, 3**64 - 2, 3**64 - 1]
    row = {"game_id": 1, "position": "", "exact": True, "evaluation": 0.0, "active": 1, "move": "", "analyst": "x"}
    with Store(url) as store:
        store.add(some_records(GAMES[0], games=1), "run")
        with store.engine.begin() as connection:
            for ply, code in enumerate(codes):
                connection.execute(PositionRow.__table__.insert(), {**row, "ply": ply, "code": code})
        for code in codes:
            assert [(type(entry["code"]), entry["code"]) for entry in store.rows(analyses_of(code))] == [(int, code)]
            above = store.scalars(select(PositionRow.code).where(PositionRow.code > code).order_by(PositionRow.code))
            assert above == sorted(other for other in codes if other > code)


@pytest.mark.parametrize("wrong", [-1, 3**64, 0.5])
def test_codes_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="from 0 to 3"):
        ExactCode().process_bind_param(wrong, None)


def test_the_source_examples_of_codes_and_squares():
    """Start and the board after d3 of SEEDS: the codes are those of the EPITA paper's formula."""
    game = make_game("reversi")
    start = game.initial_state()
    after = game.from_moves("d3")
    assert board_code(game, start) == 1716841910146156194489921515200
    assert board_code(game, after) == 1716841910146156209742278746641
    action = game.text_to_action(start, "d3")
    assert square_of(game, start, action) == (2, 3)
    four = make_game("connect-four")
    assert square_of(four, four.from_moves("4"), 3) == (4, 3)
    nim = GAMES[0]
    assert board_code(nim, nim.initial_state()) is None
    assert square_of(nim, nim.initial_state(), 0) == (None, None)


def test_analysed_positions_answer_the_source_questions(url):
    game = GAMES[2]
    records = some_records(game, games=4)
    with Store(url) as store:
        store.add(records, "run")
        by_search = store.add_analyses(
            lambda game: make_agent("minimax:depth=2,compiled=false", game), "minimax:depth=2"
        )
        exact = store.add_analyses(exhaustive, "exhaustive", run="run")
        expected = sum(sum(len(game.legal_actions(state)) > 1 for state in record.replay()[:-1]) for record in records)
        assert by_search == exact == expected
        assert store.add_analyses(exhaustive, "exhaustive") == 0  # known already
        assert len(store.rows(deeper_than(1))) == expected
        assert store.rows(deeper_than(2)) == []
        first = store.rows(analyses_of(board_code(game, game.initial_state())))
        # 4x4 Reversi is lost by 8 discs for black, who is to move (brute force, plain difference).
        exact_start = next(row for row in first if row["analyst"] == "exhaustive")
        assert (exact_start["evaluation"], exact_start["active"], exact_start["depth"]) == (-8.0, 1, None)
        squares = store.rows(best_squares(board_code(game, game.initial_state())))
        assert sum(row["times"] for row in squares) == len(first)
        assert (
            game.action_to_text(game.initial_state(), 4 * squares[0]["row"] + squares[0]["column"])
            == (squares[0]["move"])
        )
        assert {row["analyst"] for row in store.rows(QUERIES["mean-evaluations"]())} == {
            "exhaustive",
            "minimax:depth=2",
        }


def test_an_analyst_sees_the_position_with_its_mover(url):
    """Evaluations are player_0's, whoever moves: at Nim the exact one gives the winner."""
    with Store(url) as store:
        store.add(some_records(GAMES[0], games=4), "run")
        store.add_analyses(make_oracle, "closed form")
        with store.engine.connect() as connection:
            rows = connection.execute(select(PositionRow)).all()
        for row in rows:
            heaps = [int(h) for h in row.position.split()[0].split(",")]
            mover_wins = heaps[0] ^ heaps[1] ^ heaps[2] != 0
            assert row.evaluation == (row.active if mover_wins else -row.active)


def test_queries_say_what_the_records_say(url):
    records = some_records(GAMES[1], games=12, agents=("random", "greedy", "alpha-beta:depth=2,compiled=false"))
    with Store(url) as store:
        store.add(records, "run")
        for name in ("random", "greedy"):
            won = sum(r.winner in (0, 1) and r.agents[r.winner] == name for r in records)
            assert store.rows(wins(name)) == [{"wins": won}]
            own = [r.margin if r.agents[0] == name else -r.margin for r in records if name in r.agents]
            mean = store.rows(mean_score(name))[0]
            assert mean["games"] == len(own)
            assert mean["mean_score"] == pytest.approx(sum(own) / len(own))
        for row in store.rows(results()):
            of_seat = [r for r in records if r.agents[row["seat"]] == row["player"]]
            counted = [sum(r.winner == w for r in of_seat) for w in (row["seat"], 2, 1 - row["seat"])]
            assert [row["games"], row["wins"], row["draws"], row["losses"]] == [len(of_seat), *counted]
        pair = store.rows(QUERIES["head-to-head"]("random", "greedy"))[0]
        both = [r for r in records if set(r.agents) == {"random", "greedy"}]
        assert pair["games"] == len(both) == pair["wins"] + pair["draws"] + pair["losses"]
        assert pair["losses"] == sum(r.winner in (0, 1) and r.agents[r.winner] == "greedy" for r in both)
        assert [row["plies"] for row in store.rows(QUERIES["longest"](3))] == sorted(
            (len(r.actions) for r in records), reverse=True
        )[:3]
        assert store.rows(QUERIES["shortest"](1))[0]["plies"] == min(len(r.actions) for r in records)
        assert len(store.rows(QUERIES["drawn"]())) == sum(r.winner == 2 for r in records)
        times = {row["player"]: row["seconds"] for row in store.rows(QUERIES["thinking-time"]())}
        assert times["greedy"] == pytest.approx(
            sum(r.seconds[seat] for r in records for seat in (0, 1) if r.agents[seat] == "greedy")
        )
        for query in QUERIES.values():
            arguments = {"player": "random", "other": "greedy", "depth": 1, "code": 5}
            names = query.__code__.co_varnames[: query.__code__.co_argcount]
            store.rows(query(**{name: arguments[name] for name in names if name in arguments}))


def test_repeated_games_are_found(url):
    game = GAMES[0]
    same = [play_game(game, ["nim-xor", "nim-xor"], names=("a", "b"), opening_number=n) for n in range(3)]
    with Store(url) as store:
        store.add(same, "run")
        assert [row["times"] for row in store.rows(QUERIES["duplicates"]())] == [3]


def test_another_schema_version_and_foreign_tables_are_refused(url, tmp_path):
    with Store(url) as store, store.engine.begin() as connection:
        connection.execute(Meta.__table__.update().values(value="99"))
    with pytest.raises(StoreError, match="schema version 99"):
        Store(url)
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE games (x)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        Store(foreign)


def test_references_are_checked(url):
    row = {"ply": 0, "analyst": "x", "position": "", "exact": True, "evaluation": 0.0, "active": 1, "move": ""}
    with Store(url) as store, store.engine.connect() as connection:
        orphan = PositionRow.__table__.insert().values(**row, game_id=12345)
        with pytest.raises(IntegrityError, match=r"(?i)foreign key"):
            connection.execute(orphan)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("mysql://host/games", "not mysql"),
        ("://", "is not a database URL"),
        ("/nowhere/at/all/games.db", "unable to open"),
        ("postgresql://nobody@/none?host=/nowhere", "nowhere"),
    ],
)
def test_databases_that_cannot_be_opened_say_why(target, message):
    with pytest.raises(StoreError, match=message):
        Store(target)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("this is a letter, not a database " * 40)
    with pytest.raises(StoreError, match="not a database"):
        Store(path)


def test_tables_are_those_of_the_source():
    tables = Base.metadata.tables
    assert {"players", "games", "positions"} <= set(tables)
    assert {"player_0_id", "player_1_id", "winner_id", "score"} <= set(GameRow.__table__.c.keys())
    assert {"game_id", "code", "depth", "evaluation", "active", "row", "column"} <= set(PositionRow.__table__.c.keys())


def test_a_full_or_damaged_database_is_told_by_its_name(tmp_path):
    path = tmp_path / "games.db"
    records = tournament(make_game("nim"), ["random", "greedy"], games=40).records
    with Store(path) as store:
        store.add(records[:2], "run")
        with store.engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match=r"games\.db: database or disk is full"):
            store.add(records, "run")
        assert store.count("run") == 2
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"games\.db: .*malformed"), Store(path) as store:
        list(store.records())
