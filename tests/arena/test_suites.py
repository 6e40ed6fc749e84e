"""Published suites: checksums, balance, values against an oracle, rebuilding, judging; the command `evaluate`."""

import dataclasses
import json
import os
from collections import Counter

import pytest

from board_agents import make_oracle
from board_agents.arena.statistics.quality import outcome_for_mover
from board_agents.arena.suites.suite_files import (
    Suite,
    SuiteError,
    build_suite,
    judge_on_suite,
    load_suite,
    published_suites,
    read_suite,
    rebuild,
    suite_name,
)
from board_agents.cli import main
from board_envs import make_game
from board_envs.policies import agent_builder

NIM = make_game("nim")
SMALL = make_game("connect-four", rows=4, columns=4, connect=3)


def all_suites():
    return [Suite.parse(text(name), name) for name in published_suites()]


def text(name):
    from importlib import resources

    return resources.files("board_agents.arena.suites").joinpath("data").joinpath(name).read_text(encoding="utf-8")


@pytest.mark.parametrize("suite", all_suites(), ids=lambda suite: suite_name(suite.game))
def test_published_suites_hold_together(suite):
    game = suite.game
    assert load_suite(game) == suite
    places = Counter()
    for position in suite.positions:
        state = game.parse(position.position)
        assert sorted(position.values) == game.legal_actions(state)
        assert len(position.values) > 1
        assert outcome_for_mover(game, state, max(position.values.values())) == position.outcome
        bins = [n for n, (low, high) in enumerate(suite.recipe["bins"]) if low <= position.ply <= high]
        places[bins[0], position.outcome] += 1
    assert len({p.position for p in suite.positions}) == len(suite.positions)
    assert max(places.values()) <= suite.recipe["per_cell"]
    full = sum(count == suite.recipe["per_cell"] for count in places.values())
    assert full >= len(suite.recipe["bins"])  # at least one outcome's place of each range is full


@pytest.mark.parametrize(
    # Awalé's tables have their own tests; a search of it that keeps track of repetitions takes too long here.
    "suite",
    [suite for suite in all_suites() if not suite.game.rules.has_memory],
    ids=lambda suite: suite_name(suite.game),
)
def test_values_near_the_end_are_those_of_exhaustive_search(suite):
    oracle = make_oracle(suite.game, "exhaustive:budget=20000")
    checked = 0
    for position in suite.positions[::-1]:
        values = oracle.action_values(suite.game.parse(position.position))
        if values is not None:
            assert values == position.values, position.position
            checked += 1
        if checked == 12:
            break
    assert checked == 12


def test_nim_suite_is_rebuilt_from_its_recipe():
    suite = load_suite(NIM)
    for oracle in (make_oracle(NIM), make_oracle(NIM, "exhaustive")):
        assert rebuild(suite, oracle).checksum == suite.checksum
    other = dataclasses.replace(suite, recipe=suite.recipe | {"seed": 2})
    assert rebuild(other, make_oracle(NIM)).checksum != suite.checksum


@pytest.mark.skipif("BOARD_ENVS_REBUILD" not in os.environ, reason="takes minutes; `.ci/run --full` asks for it")
@pytest.mark.parametrize("suite", all_suites(), ids=lambda suite: suite_name(suite.game))
def test_published_suites_are_rebuilt_from_their_recipes(suite):
    assert rebuild(suite, make_oracle(suite.game)).checksum == suite.checksum


def test_no_two_positions_are_images_of_each_other():
    suite = build_suite(SMALL, make_oracle(SMALL, "exhaustive"), seed=1, bins=[(0, 3), (4, 7)], per_cell=4)
    assert len(suite.positions) > 8
    boards = [p.position.split()[0].split("/") for p in suite.positions]
    mirrored = [[row[::-1] for row in board] for board in boards]
    assert all(board == mirror or mirror not in boards for board, mirror in zip(boards, mirrored, strict=True))


def test_positions_beyond_the_oracle_are_left_out():
    class Shy:
        def action_values(self, state):
            return None if NIM.current_player(state) else make_oracle(NIM).action_values(state)

    suite = build_suite(NIM, Shy(), seed=1, bins=[(0, 3)], per_cell=5)
    assert {p.position[-1] for p in suite.positions} == {"0"}


def test_a_file_is_written_and_read(tmp_path):
    suite = build_suite(SMALL, make_oracle(SMALL, "exhaustive"), seed=1, bins=[(0, 3)], per_cell=3)
    path = tmp_path / "own.suite"
    suite.save(path)
    assert read_suite(path) == suite
    assert [p.name for p in tmp_path.iterdir()] == ["own.suite"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("suite 1", "suite 9", "format 'board-envs suite 9'"),
        ("1:1", "1:-1", "checksum"),
        ("0:-1", "0:x", "not a line of a suite"),
        ('{"format"', '{"form"', "no header"),
        ('"nim"', '"chess"', "no header"),
    ],
)
def test_damaged_files_are_refused(old, new, message):
    good = text(suite_name(NIM))
    assert old in good
    with pytest.raises(SuiteError, match=message):
        Suite.parse(good.replace(old, new, 1), "file")


def test_files_that_are_empty_or_no_text_are_refused_by_name(tmp_path):
    path = tmp_path / "own.suite"
    for data, message in ((b"", "no header"), ("é".encode("latin-1"), "not UTF-8 text")):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=f"own.suite: {message}"):
            read_suite(path)


def test_a_game_without_a_suite_says_which_there_are():
    with pytest.raises(SuiteError, match=r"no published suite for .*rows=4.*nim"):
        load_suite(SMALL)


def test_judging_is_the_same_for_the_same_seed_and_perfect_for_a_perfect_agent():
    suite = load_suite(NIM)
    perfect = judge_on_suite("nim-xor", suite, name="nim-xor").total
    assert perfect.optimal == perfect.counted == perfect.decisions == len(suite.positions)
    first, again, other = (
        judge_on_suite("random", suite, name="random", seed=seed, repeats=2).to_dict() for seed in (1, 1, 2)
    )
    assert first == again
    assert first["total"] != other["total"]
    assert first["total"]["decisions"] == 2 * len(suite.positions)
    assert first["source"]["sha256"] == suite.checksum


def test_random_play_is_as_good_as_chance_says():
    """The expected regret of uniform play is the mean of best minus each value: 20 answers a position come near it."""
    suite = load_suite(NIM)
    expected = sum(max(p.values.values()) - sum(p.values.values()) / len(p.values) for p in suite.positions)
    total = judge_on_suite("random", suite, name="random", repeats=20).total
    assert total.mean_regret == pytest.approx(expected / len(suite.positions), abs=4 * total.regret_error)


def test_faulty_answers_are_counted_apart():
    @agent_builder
    def build(game):
        def act(observation):
            if observation["observation"][0] == 3:
                raise RuntimeError("three")
            return int(observation["action_mask"].argmax())

        return act

    suite = load_suite(NIM)
    total = judge_on_suite(build, suite, name="fragile").total
    faults = sum(p.position.startswith("3") for p in suite.positions)
    assert total.faults == faults > 0
    assert total.counted == total.decisions - faults


def test_evaluate_prints_what_the_library_says(capsys):
    assert main(["evaluate", "nim", "random", "--seed", "4", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    expected = judge_on_suite("random", load_suite(NIM), name="random", seed=4).to_dict()
    assert printed == json.loads(json.dumps(expected))
    assert main(["evaluate", "nim", "random,nim-xor"]) == 0
    table = capsys.readouterr().out
    assert "nim-xor at nim" in table
    assert "100.0%" in table


def test_evaluate_on_own_games(capsys):
    options = ["-p", "rows=4", "-p", "columns=4", "-p", "connect=3", "--games", "4", "--json"]
    assert (
        main(
            [
                "evaluate",
                "alpha-beta:depth=4,compiled=false",
                "connect-four",
                "--opponent",
                "random",
                "--oracle",
                "exhaustive",
                *options,
            ]
        )
        == 0
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed["source"] == {
        "kind": "games",
        "games": 4,
        "opponent": "random",
        "seed": 0,
        "oracle": "exhaustive",
    }
    assert printed["total"]["counted"] == printed["total"]["decisions"] > 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "nim", "nobody"], "unknown agent 'nobody'"),
        (["evaluate", "chess", "random"], "unknown game 'chess'"),
        (["evaluate", "nim", ""], "part 1 of '' is empty"),
        (["evaluate", "nim", "random", "--repeats", "0"], "--repeats must be 1 or more"),
        (["evaluate", "nim", "random", "--seed", "-1"], "seed must be"),
        (["evaluate", "connect-four", "random", "-p", "rows=4", "--on", "suite"], "no published suite"),
        (["evaluate", "nim", "random", "--suite", "nothing.suite"], "nothing.suite"),
        (["evaluate", "nim", "random", "--on", "games", "--oracle", "guess"], "unknown oracle 'guess'"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_suite_of_another_game_is_refused(tmp_path, capsys):
    path = tmp_path / "nim.suite"
    load_suite(NIM).save(path)
    assert main(["evaluate", "nim", "random", "-p", "heaps=3,4", "--suite", str(path)]) == 2
    assert "is a suite for" in capsys.readouterr().err
