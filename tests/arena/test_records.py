import json

import pytest

from board_agents.arena import Ending, GameRecord, RecordError, play_game
from board_agents.arena.records.storage import RecordFile
from board_envs import make_game

NIM = make_game("nim")


def record_of(game=NIM, seeds=(1, 2), **arguments):
    return play_game(game, ["random", "random"], names=("a", "b"), seeds=seeds, **arguments)


def changed(record, **values):
    """The record with other values and a checksum that fits them, as a forger would write it."""
    return GameRecord(**{name: getattr(record, name) for name in record.__dataclass_fields__} | values)


@pytest.mark.parametrize(
    "game", [NIM, make_game("nim", heaps=(2, 2), misere=True), make_game("connect-four", rows=4, columns=5, connect=3)]
)
def test_a_record_survives_its_text_form_and_replays(game):
    record = record_of(game)
    again = GameRecord.from_json(record.to_json())
    assert again == record
    assert again.seconds == record.seconds
    assert again.make_game() is game
    states = again.replay()
    assert len(states) == len(record.actions) + 1
    assert game.format(states[-1]) == record.final
    assert int(game.winner(states[-1])) == record.winner


def test_headers_are_kept_and_leave_no_trace_where_there_are_none():
    plain = record_of()
    assert "headers" not in json.loads(plain.to_json())
    record = changed(plain, headers={"event": "final"})
    assert GameRecord.from_json(record.to_json()) == record != plain
    for wrong in ({"event": 1}, ["event"], "event"):
        with pytest.raises(RecordError, match="headers must map strings to strings"):
            GameRecord.from_json(changed(plain, headers=wrong).to_json())


def test_an_altered_line_is_refused():
    data = json.loads(record_of().to_json())
    data["winner"] = 1 - data["winner"]
    with pytest.raises(RecordError, match="altered"):
        GameRecord.from_json(json.dumps(data))
    data["format"] = 99
    with pytest.raises(RecordError, match="format 99"):
        GameRecord.from_json(json.dumps(data))
    for text in ("", "{", "[]", "17", "{}"):
        with pytest.raises(RecordError, match="not a game record"):
            GameRecord.from_json(text)


def test_a_record_that_tells_another_game_does_not_replay():
    record = record_of()
    with pytest.raises(RecordError, match="winner"):
        changed(record, winner=1 - record.winner).replay()
    with pytest.raises(RecordError, match="replays to"):
        changed(record, final="1,1,1 0").replay()
    with pytest.raises(RecordError, match="ply 2"):
        changed(record, actions=(record.actions[0], record.actions[0] + 100)).replay()
    with pytest.raises(RecordError, match="winner"):
        changed(record, ending=Ending.UNFINISHED).replay()


def test_a_record_from_another_position_replays_from_there():
    record = record_of(start="1,2,0 1")
    assert NIM.format(record.replay()[0]) == "1,2,0 1"
    assert GameRecord.from_json(record.to_json()).replay()


def test_a_file_keeps_each_game_once_and_drops_a_line_cut_off(tmp_path):
    file = RecordFile(tmp_path / "games.jsonl")
    assert file.read() == []
    first, second = record_of(), record_of(seeds=(3, 4))
    for record in (first, second, first):
        file.append(record)
    assert file.read() == [first, second]
    assert file.dropped == 0
    with file.path.open("ab") as handle:
        handle.write(second.to_json().encode()[:40])
    assert file.read() == [first, second]
    assert file.dropped == 1
    file.append(record_of(seeds=(5, 6)))
    assert len(file.read()) == 3


def test_a_damaged_file_is_refused_by_line(tmp_path):
    file = RecordFile(tmp_path / "games.jsonl")
    file.append(record_of())
    file.path.write_bytes(b"not a record\n" + file.path.read_bytes())
    with pytest.raises(RecordError, match=r"games\.jsonl, line 1"):
        file.read()
