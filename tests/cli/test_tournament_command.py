import json
import signal
import subprocess
import sys
import time

import pytest
from cli_common import PROGRAM

from board_agents.arena.records.storage import RecordFile
from board_agents.arena.records.text_formats import read_records
from board_agents.arena.statistics.tally import standings
from board_envs import make_game


def test_the_table_tells_results_by_seat(run):
    code, out, err = run("tournament", "nim", "--agents", "random,nim-xor", "--games", 10, "--opening-plies", 0)
    assert (code, err) == (0, "")
    row = next(line for line in out.splitlines() if "nim-xor" in line)
    assert "100.0%" in row
    assert row.count("5/0/0") == 2
    assert "only 9 of 10 games are distinct" in out
    assert "no upper bound" in out


def test_json_says_the_same_as_the_records(run, tmp_path):
    file = tmp_path / "games.jsonl"
    code, out, err = run(
        "tournament", "connect-four", "-a", "random,greedy,alpha-beta:depth=1,ties=random", "-n", 6, "--json",
        "--param", "rows=4", "--param", "columns=5", "--param", "connect=3", "--records", file,
    )  # fmt: skip
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert out.count("\n") == 1
    assert data["parameters"] == {"rows": 4, "columns": 5, "connect": 3}
    records = RecordFile(file).read()
    assert data["played"] == data["planned"] == len(records) == 18
    for standing, entry in zip(standings(records), data["agents"], strict=True):
        assert entry["name"] == standing.name
        for seat, key in enumerate(("first", "second")):
            tally = standing.seats[seat]
            found = (entry[key]["wins"], entry[key]["draws"], entry[key]["losses"])
            assert found == (tally.wins, tally.draws, tally.losses)
    for record in records:
        record.replay()


def test_specs_with_parameters_are_told_from_further_agents(run):
    code, out, _ = run(
        "tournament", "nim", "-a", "random,alpha-beta:depth=2,ties=random", "-a", "greedy", "-n", 1, "--json"
    )
    assert code == 0
    names = [entry["name"] for entry in json.loads(out)["agents"]]
    assert names == ["random", "alpha-beta:depth=2,ties=random", "greedy"]


def test_a_run_continues_from_its_records(run, tmp_path):
    file = tmp_path / "games.jsonl"
    arguments = ["tournament", "nim", "-a", "random,greedy,nim-xor", "--json", "--records", file]
    assert run(*arguments, "-n", 4)[0] == 0
    before = file.read_bytes()
    first_lines = before.splitlines()[:5]
    file.write_bytes(b"\n".join(first_lines) + b'\n{"game": "ni')
    code, out, err = run(*arguments, "-n", 4)
    assert code == 0
    assert "incomplete last line" in err
    assert file.read_bytes().splitlines()[:5] == first_lines
    keys = [record.key for record in RecordFile(file).read()]
    assert len(keys) == len(file.read_bytes().splitlines()) == 12
    whole = json.loads(run(*arguments, "-n", 4)[1])
    assert {key: value for key, value in json.loads(out).items() if key != "agents"} == {
        key: value for key, value in whole.items() if key != "agents"
    }
    assert file.read_bytes().count(b"\n") == 12


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nin", "-a", "random,greedy"], "did you mean 'nim'"),
        (["nim", "-a", "random"], "two agents"),
        (["nim"], "--agents"),
        (["nim", "-a", "random,gredy"], "did you mean 'greedy'"),
        (["nim", "-a", "random,alpha-beta:deep=3"], "'deep'"),
        (["nim", "-a", "random,alpha-beta:depth=x"], "integer"),
        (["connect-four", "-a", "random,nim-xor"], "nim"),
        (["nim", "-a", "random,greedy", "-n", "0"], "1 or more"),
        (["nim", "-a", "random,greedy", "-n", "many"], "integer"),
        (["nim", "-a", "random,greedy", "--seed", "-1"], "-1"),
        (["nim", "-a", "random,greedy", "--param", "size=3"], "heaps, misere"),
        (["nim", "-a", "random,greedy", "--param", "heaps"], "key=value"),
        (["nim", "-a", "random,greedy", "--param", "heaps=a,b"], "integers"),
        (["nim", "-a", "random,greedy", "--param", "heaps=1,1000"], "127"),
        (["nim", "-a", "random,greedy", "--param", "misere=maybe"], "true or false"),
        (["reversi", "-a", "random,greedy", "--param", "size=5"], "4, 6 or 8"),
        (["nim", "-a", "random,greedy", "--start", "9,9,9"], "more than the"),
        (["nim", "-a", "random,greedy", "--start", "0,0,0"], "finished"),
        (["nim", "-a", "random,greedy", "--anchor", "minimax"], "is not one of the agents"),
        (["nim", "-a", "random,greedy", "--time-limit", "0"], "above 0"),
        (["nim", "-a", "random,greedy", "--time-limit", "nan"], "above 0, not nan"),
        (["nim", "-a", "random,greedy", "--sprt", "50,0"], "ELO0 below ELO1"),
        (["nim", "-a", "random,greedy", "--sprt", "0,inf"], "not '0,inf'"),
        (["nim", "-a", "random,greedy", "--opening-plies", "-2"], "-2"),
        (["nim", "-a", "random,greedy", "--bogus"], "--bogus"),
        (["nim", "-a", "random,greedy", "--records", "/nonexistent/folder/file"], "/nonexistent/folder/file"),
    ],
)
def test_a_usage_error_prints_one_line_and_exits_with_2(run, arguments, told):
    code, out, err = run("tournament", *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("board-envs: ")
    assert told in err


def test_unknown_commands_and_none(run):
    code, _, err = run("turnament")
    assert code == 2
    assert "turnament" in err
    for group in ([], ["records"], ["tables"]):
        code, out, err = run(*group)
        assert (code, out) == (2, "")
        assert err.startswith("Usage: board-envs")
        assert err.count("\n") > 5
    code, out, _ = run("--help")
    assert code == 0
    assert "tournament" in out
    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith("board-envs 0.")


def test_games_lists_parameters_ids_and_agents(run):
    code, out, _ = run("games")
    assert code == 0
    for text in ("board_envs/ConnectFour-v0", "board_envs/nim-v0", "pits", "tamale", "3,4,5", "alpha-beta", "depth=4"):
        assert text in out
    data = json.loads(run("games", "connect_four", "--json")[1])
    (entry,) = data["games"]
    assert entry["name"] == "connect-four"
    assert entry["parameters"]["rows"]["default"] == 6
    assert all(parameter["limits"] for parameter in entry["parameters"].values())
    assert run("games", "chess")[0] == 2


def test_programs_that_fail_are_recorded_as_such_and_the_tournament_goes_on(run, tmp_path):
    answers = {"illegal": "print('z9')", "crash": "sys.exit(3)", "timeout": "time.sleep(60)"}
    specs = ["random"]
    for name, answer in answers.items():
        program = tmp_path / f"{name}.py"
        program.write_text(
            "import sys, time\n"
            "for line in sys.stdin:\n"
            f"    if line.startswith('move'):\n        {answer}\n"
            "    elif not line.startswith('quit'):\n        print('ready')\n"
            "    sys.stdout.flush()\n"
        )
        limit = ",seconds=1" if name == "timeout" else ""
        specs.append(f'program:command="{sys.executable} {program}"{limit}')
    code, out, err = run("tournament", "nim", "-a", ",".join(specs), "-n", 2, "--opening-plies", 0, "--json")
    assert (code, err) == (0, "")
    random, *programs = json.loads(out)["agents"]
    assert random["total"]["wins"] == 6
    for name, entry in zip(answers, programs, strict=True):
        faults = entry["faults"]
        assert faults[name] >= 3
        assert sum(faults.values()) == faults[name]
    assert sum(sum(entry["faults"].values()) for entry in programs) == 12


def test_ctrl_c_shows_what_was_played(tmp_path):
    file = tmp_path / "games.jsonl"
    arguments = [
        "connect-four",
        "-a",
        "random,random",
        "-n",
        "20000",
        "--opening-plies",
        "0",
        "--records",
        file,
        "--json",
    ]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "tournament", *arguments, "--records", file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            while not (file.exists() and file.stat().st_size):
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert err.strip() == "board-envs: stopped"
    data = json.loads(out)
    assert 0 < data["played"] < data["planned"] == 20000
    assert abs(len(RecordFile(file).read()) - data["played"]) <= 1


def test_openings_of_a_file_are_played_from_both_seats(run, tmp_path):
    source = tmp_path / "openings.txt"
    source.write_text("1:2 2:1\n\nnonsense\n1 4 5\n0 0 0\n1:1 2:1 3:5\n1. 1:3\n")
    arguments = (
        "tournament",
        "nim",
        "-a",
        "random,greedy",
        "--openings",
        source,
        "--records",
        tmp_path / "games.jsonl",
    )
    code, out, err = run(*arguments, "--json")
    assert code == 0
    assert f"{source}, line 3: " in err
    assert f"{source}, line 5: the game is over after this opening (0,0,0 0)" in err
    assert err.count("\n") == 2
    data = json.loads(out)
    assert (data["games_per_pair"], data["planned"]) == (8, 8)
    assert data["openings"] == {"file": str(source), "read": 4, "forms": {"moves": 2, "heaps": 1, "numbered": 1}}
    records = list(read_records(str(tmp_path / "games.jsonl")))
    game = make_game("nim")
    begun = [(record.start, record.opening, record.agents) for record in records]
    fourth = tuple(game.read_moves("1:3"))
    first, third = tuple(game.read_moves("1:2 2:1")), tuple(game.read_moves("1:1 2:1 3:5"))
    seats = [("random", "greedy"), ("greedy", "random")]
    assert begun == [
        (start, opening, agents)
        for start, opening in [("", first), ("1,4,5 0", ()), ("", third), ("", fourth)]
        for agents in seats
    ]
    for record in records:
        assert record.actions[: len(record.opening)] == record.opening
    text = run(*arguments)[1]
    assert f"openings of {source}: moves (2), heaps (1), numbered (1)" in text
    code, out, _ = run(*arguments[:-2], "--opening-plies", 1, "-n", 10, "--records", tmp_path / "more.jsonl")
    assert code == 0
    more = list(read_records(str(tmp_path / "more.jsonl")))
    assert [record.opening for record in more[::2]] == [first[:1], (), third[:1], fourth, first[:1]]


def test_openings_that_cannot_be(run, tmp_path):
    source = tmp_path / "openings.txt"
    source.write_text("0 0 0\n")
    for arguments, told in (
        (["--openings", source], "no opening of nim found"),
        (["--openings", source, "--start", "1,1,1"], "--openings and --start exclude each other"),
        (["--openings", source, "--opening-plies", -1], "0 or more, not -1"),
        (["--openings", tmp_path / "none.txt"], "no such file"),
        (["--openings", tmp_path], str(tmp_path)),
    ):
        code, out, err = run("tournament", "nim", "-a", "random,greedy", *arguments)
        assert (code, out) == (2, "")
        assert told in err.splitlines()[-1]


def test_a_start_in_any_form_is_kept_in_the_games_own_notation(run, tmp_path):
    code, _, _ = run(
        "tournament", "nim", "-a", "random,greedy", "-n", 2, "--start", "1-4-5", "--records", tmp_path / "g.jsonl"
    )
    assert code == 0
    assert {record.start for record in read_records(str(tmp_path / "g.jsonl"))} == {"1,4,5 0"}
