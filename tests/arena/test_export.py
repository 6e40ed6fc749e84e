"""Records in other forms and back; the commands `records copy`, `check`, `query` and `analyse`."""

import dataclasses
import json

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("pyarrow")

import pyarrow.parquet as pyarrow

from board_agents.arena import Ending, RecordError, play_game, tournament
from board_agents.arena.records.database import Store
from board_agents.arena.records.text_formats import read_records, read_transcript, write_records, write_transcript
from board_agents.cli import main
from board_envs import make_game

NIM = make_game("nim")
GAMES = [
    NIM,
    make_game("connect-four", rows=4, columns=10, connect=3),
    make_game("reversi", size=4),
    make_game("awale", pits=3, seeds=2),
]
SUFFIXES = [".jsonl", ".txt", ".parquet", ".db"]


def odd_records():
    """Faults, unfinished games, other starts, names and details that are hard to write down."""
    return [
        play_game(NIM, [lambda observation: 99, "random"], names=('"wild"', "new\nline"), seeds=(0, 2**63 - 1)),
        play_game(NIM, ["random", "random"], names=(" a", "b: c"), start="1,4,2 1", seeds=(2, 5)),
        play_game(NIM, ["random", "random"], names=("é", "b\t"), max_plies=2, opening=(0, 4), opening_number=7),
        play_game(NIM, ["random", "random"], names=("a", "b"), max_plies=0),
        dataclasses.replace(
            play_game(NIM, ["random", "random"], names=("a", "c")),
            headers={"date": "1999-01-31", 'é "x"': "two\nlines: 1"},
        ),
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_every_form_gives_back_what_it_took(tmp_path, suffix, game):
    records = list(tournament(game, ["random", "greedy"], games=5, seed=3).records)
    target = str(tmp_path / f"games{suffix}")
    assert write_records(target, records) == 5
    back = list(read_records(target))
    assert back == records
    assert [r.seconds for r in back] == [r.seconds for r in records]
    assert [path.name for path in tmp_path.iterdir()] == [f"games{suffix}"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_odd_records_survive_too(tmp_path, suffix):
    target = str(tmp_path / f"games{suffix}")
    records = odd_records()
    write_records(target, records)
    assert list(read_records(target)) == records


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_records_that_do_not_reach_their_end_are_neither_written_nor_read(tmp_path, suffix):
    record = play_game(NIM, ["random", "random"], names=("a", "b"))
    wrong = dataclasses.replace(record, margin=5)
    with pytest.raises(RecordError, match="states margin 5"):
        write_records(str(tmp_path / f"never{suffix}"), [record, wrong])
    assert not (tmp_path / f"never{suffix}").exists() or suffix == ".db"


def test_altered_files_are_refused(tmp_path):
    record = play_game(NIM, ["random", "random"], names=("a", "b"))
    path = tmp_path / "games.txt"
    path.write_text(write_transcript(record).replace(f"margin: {record.margin}", "margin: 7"))
    with pytest.raises(RecordError, match=r"games\.txt, game 1: .*margin"):
        list(read_records(str(path)))
    table = pyarrow.read_table(_parquet(tmp_path, [record]))
    altered = table.set_column(table.schema.get_field_index("final"), "final", [["1,1,1 0"]])
    pyarrow.write_table(altered, tmp_path / "altered.parquet")
    with pytest.raises(RecordError, match=r"altered\.parquet, game 1: .*replays to"):
        list(read_records(str(tmp_path / "altered.parquet")))
    pyarrow.write_table(table.replace_schema_metadata({}), tmp_path / "foreign.parquet")
    with pytest.raises(RecordError, match="not a Parquet table of game records"):
        list(read_records(str(tmp_path / "foreign.parquet")))
    (tmp_path / "text.parquet").write_text("no parquet")
    with pytest.raises(RecordError, match=r"text\.parquet"):
        list(read_records(str(tmp_path / "text.parquet")))


def _parquet(folder, records):
    path = folder / "good.parquet"
    write_records(str(path), records)
    return path


def test_a_transcript_by_hand_needs_game_and_moves():
    record = read_transcript("game: connect-four\nmoves: 4453")
    assert (record.ending, record.winner, record.actions) == (Ending.UNFINISHED, -1, (3, 3, 4, 2))
    assert record.agents == ("?", "?")
    won = read_transcript("game: connect-four\nplayer_0: Ada\nmoves: 1212121")
    assert (won.ending, won.winner, won.agents[0]) == (Ending.FINISHED, 0, "Ada")
    reversi = read_transcript('game: reversi\nparameters: {"size": 4}\nmoves: b1a1')
    reversi.replay()
    assert read_transcript(write_transcript(won)) == won


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("moves: 44", "without 'game'"),
        ("game: nim", "without 'moves'"),
        ("game: chess\nmoves: e4", "unknown game 'chess'"),
        ("game: connect-four\nmoves: 48", "'8' is not a column"),
        ("game: connect-four\nmoves: 1212121\nresult: 2-0", "2-0"),
        ("game: connect-four\nmoves: 1\nending: won", "won"),
        ("game: connect-four\nmoves: 1\nplayer: x", "is not a line of a transcript"),
        ("game: connect-four\nmoves: 1\nopening: 1", "out of range"),
        ("just text", "is not a line of a transcript"),
    ],
)
def test_wrong_transcripts_say_what_is_wrong(text, message):
    with pytest.raises(RecordError, match=message):
        read_transcript(text)


def test_parquet_is_a_plain_table(tmp_path):
    records = list(tournament(NIM, ["random", "greedy"], games=4).records)
    table = pyarrow.read_table(_parquet(tmp_path, records)).to_pydict()
    assert table["winner"] == [r.winner for r in records]
    assert table["actions"] == [list(r.actions) for r in records]
    assert json.loads(table["parameters"][0]) == {"heaps": [3, 4, 5], "misere": False}


def test_copy_check_query_and_analyse_from_the_command_line(tmp_path, capsys):
    lines, database, text = (str(tmp_path / name) for name in ("games.jsonl", "games.db", "games.txt"))

    def run(*arguments):
        assert main(["records", *arguments]) == 0
        return capsys.readouterr().out

    records = list(tournament(NIM, ["random", "nim-xor"], games=6, seed=1).records)
    write_records(lines, records)
    assert "6 games" in run("copy", lines, database, "--into", "first")
    assert "0 games" in run("copy", lines, database, "--into", "first")
    run("copy", database, text, "--run", "first")
    assert list(read_records(text)) == records
    assert json.loads(run("check", text, "--json")) == {
        "games": 6,
        "plies": sum(len(r.actions) for r in records),
        "by_game": {"nim": 6},
        "by_ending": {"finished": 6},
    }
    assert "6 games" in run("check", database)
    assert json.loads(run("query", database, "wins", "player=nim-xor", "--json")) == [
        {"wins": sum(r.agents[r.winner] == "nim-xor" for r in records)}
    ]
    assert "deeper-than" in run("query", database)
    assert run("query", database, "runs", "--csv").startswith("run,games,started\nfirst,6,")
    assert "positions analysed" in run("analyse", database, "--agent", "minimax:depth=2,compiled=false")
    assert run("analyse", database, "--oracle", "default").split()[0] != "0"
    assert len(json.loads(run("query", database, "deeper-than", "depth=1", "--json"))) > 0
    assert run("query", database, "deeper-than", "depth=2", "--csv").count("\n") == 1


def test_codes_are_texts_in_json(tmp_path, capsys):
    database = str(tmp_path / "games.db")
    game = make_game("reversi")
    write_records(database, [play_game(game, ["random", "random"], names=("a", "b"), max_plies=1)])
    assert main(["records", "analyse", database, "--agent", "greedy:compiled=false"]) == 0
    assert main(["records", "query", database, "best-squares", "code=1716841910146156194489921515200", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert len(found) == 1
    assert main(["records", "query", database, "deeper-than", "depth=0", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert "1716841910146156194489921515200" in [row["code"] for row in rows]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["copy", "nothing.jsonl", "out.txt"], "nothing.jsonl"),
        (["copy", "nothing.txt", "out.jsonl"], "nothing.txt"),
        (["check", "games.xml"], "unknown format; known: .txt, .jsonl, .parquet"),
        (["query", "x.db", "win"], "unknown query 'win'"),
        (["query", "x.db", "wins"], "missing player (write player=...)"),
        (["query", "x.db", "wins", "winner=a"], "parameters of wins: player"),
        (["query", "x.db", "deeper-than", "depth=two"], "depth must be an integer"),
        (["analyse", "x.db"], "exactly one of --agent and --oracle"),
        (["analyse", "mongodb://x", "--oracle", "default"], "not mongodb"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.xml").write_text("<games/>")
    Store("x.db").close()
    assert main(["records", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_file_is_replaced_only_when_asked(tmp_path, capsys):
    source, target = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    write_records(str(source), odd_records())
    target.write_text("dear")
    assert main(["records", "copy", str(source), str(target)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert target.read_text() == "dear"
    assert main(["records", "copy", str(source), str(target), "--overwrite"]) == 0
    assert target.read_text() == source.read_text()


@pytest.mark.parametrize("suffix", [".jsonl", ".txt", ".parquet"])
def test_files_that_are_cut_off_or_no_records_are_refused_and_left_alone(tmp_path, suffix, capsys):
    path = tmp_path / f"games{suffix}"
    write_records(str(path), tournament(NIM, ["random", "greedy"], games=2).records)
    whole = path.read_bytes()
    for data in (whole[:-10], whole[: len(whole) * 2 // 3], b"\xda\xc3\n\xff\n"):
        path.write_bytes(data)
        assert main(["records", "check", str(path)]) == 2
        error = capsys.readouterr().err
        assert str(path) in error
        assert error.count("\n") == 1
        assert path.read_bytes() == data


@pytest.mark.parametrize("name", ["games.txt", "games.jsonl", "games.parquet"])
def test_a_file_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path, name, capsys):
    source = tmp_path / "a.jsonl"
    write_records(str(source), odd_records())
    target = tmp_path / "nowhere" / name
    assert main(["records", "copy", str(source), str(target)]) == 2
    assert capsys.readouterr().err == f"board-envs: {target}: No such file or directory\n"
