"""The example package with a game of its own: built, installed beside the project, and then a game like ours."""

import json
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SMALL = ("--param", "size=3")
CHEAP = "random,greedy,alpha-beta:depth=3,compiled=false,mcts:simulations=30,compiled=false"


ORACLE = """
import random
import pyspiel
from board_envs import make_game


def joined(stones, seat, size):
    '''Union-find over one seat's stones and two more nodes, its sides.'''
    parent = {cell: cell for cell in (*stones, "first", "second")}

    def root(cell):
        while parent[cell] != cell:
            cell = parent[cell]
        return cell

    for row, column in stones:
        along = row if seat == 0 else column
        if along == 0:
            parent[root((row, column))] = root("first")
        if along == size - 1:
            parent[root((row, column))] = root("second")
        for other in ((row, column + 1), (row + 1, column), (row + 1, column - 1)):
            if other in stones:
                parent[root((row, column))] = root(other)
    return root("first") == root("second")


draw = random.Random(5)
games, wins = 0, [0, 0]
for size in range(3, 12):
    for swap in (False, True):
        game = make_game("hex", size=size, swap=swap)
        theirs = pyspiel.load_game("hex", {"board_size": size, "swap": swap})
        for number in range(4):
            state, other = game.initial_state(), theirs.new_initial_state()
            stones = [set(), set()]
            while not other.is_terminal():
                assert not game.is_terminal(state)
                legal = other.legal_actions()
                assert game.legal_actions(state) == legal
                seat = game.current_player(state)
                assert seat == other.current_player()
                action = size * size if number % 2 and size * size in legal else draw.choice(legal)
                assert game.action_to_text(state, action) == other.action_to_string(seat, action)
                state = game.step(state, action)
                other.apply_action(action)
                if action == size * size:
                    (row, column) = stones[0].pop()
                    stones[1].add((column, row))
                else:
                    stones[seat].add(divmod(action, size))
                for each in (0, 1):
                    assert joined(stones[each], each, size) == (game.winner(state) == each), game.format(state)
            assert game.is_terminal(state)
            assert game.returns(state) == tuple(other.returns())
            wins[int(game.winner(state))] += 1
            games += 1
assert games == 72 and min(wins) > 10, wins
print("compared", games)
"""


def test_whole_games_are_those_of_open_spiel_and_of_union_find(with_game):
    pytest.importorskip("pyspiel")
    assert with_game.call(ORACLE) == "compared 72\n"


def test_all_conformance_checks_pass(with_game):
    code = (
        "import runpy, sys\nsys.argv = ['testing', 'hex']\nrunpy.run_module('board_envs.testing', run_name='__main__')"
    )
    # The program ends with exit(0), which run() checks.
    assert with_game.call(code) == "hex: all checks passed\n"


REGISTRIES = """
import copy, pickle
import gymnasium, numpy as np, pettingzoo
import board_envs
from board_envs.pictures.svg import svg

game = board_envs.make_game("hex", size=4)
assert "hex" in board_envs.game_names()
assert copy.deepcopy(game) is game and pickle.loads(pickle.dumps(game)) is game
assert gymnasium.make("board_envs/Hex-v0", size=4).unwrapped.game is game
if hasattr(pettingzoo, "register"):
    env = pettingzoo.make("aec", "board_envs/hex-v0", size=4, render_mode="ansi")
    env.reset()
    assert env.unwrapped.game is game and "a b c d" in env.render()
env = board_envs.env("hex", size=4, oracle="exhaustive:budget=50")
env.reset(options={"moves": "a1 b2"})
again = pickle.loads(pickle.dumps(env))
assert np.array_equal(again.last()[0]["observation"], env.last()[0]["observation"])
state = game.from_moves("a1b2c3")
text = svg(game, state)
# 16 cells and 16 points beside the board.
assert text.count("<circle") == 32 and text.count('fill="#c0392b"') == 2 + 8, text.count('fill="#c0392b"')
assert game.draw(state).splitlines()[:2] == ["   a b c d", " 1 X - - -"]
for size, given, message in [
    (3, "-XX/---/---", "2 X and 0 O: X begins"),
    (3, "---/---/--", "expected 3 rows of 3"),
    (3, "--x/---/---", "'x' is not X, O or -"),
    (3, "X--/---/--- 0", "seat 1 is to move, not '0'"),
    (3, "XO-/XO-/X-O", "X has won, yet O played after that"),
    (4, "XOXO/XOXO/XOXO/XOX-", "no single last stone"),
]:
    try:
        board_envs.make_game("hex", size=size).parse(given)
    except ValueError as error:
        assert message in str(error), error
    else:
        raise AssertionError(given)
for wrong in (2, 12, "5", True):
    try:
        board_envs.make_game("hex", size=wrong)
    except ValueError as error:
        assert "size must be an integer from 3 to 11" in str(error), error
    else:
        raise AssertionError(wrong)
"""


def test_it_is_in_both_registries_and_is_copied_and_drawn(with_game):
    with_game.call(REGISTRIES)


VECTOR = """
import gymnasium, numpy as np
import board_envs

env = gymnasium.make_vec("board_envs/Hex-v0", num_envs=4, size=3, opponent="greedy", oracle="exhaustive")
observations, infos = env.reset(seed=3)
assert observations.shape == (4, 3, 3, 3)
rng, ends = np.random.default_rng(0), 0
for _ in range(30):
    mask = infos["action_mask"]
    observations, rewards, terminated, truncated, infos = env.step((rng.random(mask.shape) * mask).argmax(1))
    known = infos["action_values"][~np.isnan(infos["action_values"])]
    assert set(known.tolist()) <= {-1.0, 1.0}
    ends += terminated.sum()
assert ends >= 8
assert np.isin(rewards, (-1, 0, 1)).all()
print("ok")
"""


def test_a_vectorised_environment_has_an_opponent_and_an_oracle(with_game):
    pytest.importorskip("numba")
    assert with_game.call(VECTOR) == "ok\n"


SOLVED = """
from functools import cache
from board_agents import make_agent, make_oracle
from board_envs import make_game
from board_agents.search.evaluations import evaluation_names, named_evaluation

SIZE = 3
NEAR = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1))


def wins(stones, seat):
    '''Flood fill on a set of cells.'''
    first = [cell for cell in stones if cell[seat] == 0]
    seen = set(first)
    while first:
        row, column = first.pop()
        for cell in ((row + down, column + right) for down, right in NEAR):
            if cell in stones and cell not in seen:
                seen.add(cell)
                first.append(cell)
    return any(cell[seat] == SIZE - 1 for cell in seen)


@cache
def value(own, other, seat):
    '''+1 if the seat to move wins, by looking at everything.'''
    free = [(row, column) for row in range(SIZE) for column in range(SIZE)]
    return max(played(own, other, seat, cell) for cell in free if cell not in own and cell not in other)


def played(own, other, seat, cell):
    stones = own | {cell}
    return 1 if wins(stones, seat) else -value(other, stones, 1 - seat)


game = make_game("hex", size=SIZE)
empty = frozenset()
expected = {cell: played(empty, empty, 0, divmod(cell, SIZE)) for cell in range(SIZE * SIZE)}
assert make_oracle(game).action_values(game.initial_state()) == expected
assert evaluation_names(game) == ["paths", "margin", "zero"]
paths = named_evaluation(game, "paths")
# Either needs 3 stones; one in the middle saves its owner one and costs the other nothing: there is a way round.
assert paths(game.initial_state()) == 0
assert paths(game.from_moves("b2")) == 1
assert paths(game.from_moves("a1 b2")) == 0
best = {action for action, known in expected.items() if known == 1}
for spec in ("alpha-beta:depth=9,compiled=false", "alpha-beta:depth=9", "mcts:simulations=3000,compiled=false",
             "mcts:simulations=3000", "perfect"):
    agent = make_agent(spec, game)
    agent.reset(seed=1)
    state = game.initial_state()
    assert agent.act({}, state) in best, spec
print("solved")
"""


def test_the_oracle_and_every_search_know_the_small_board(with_game):
    pytest.importorskip("numba")
    assert with_game.call(SOLVED) == "solved\n"


def test_its_form_in_open_spiel_plays(with_game):
    pytest.importorskip("pyspiel")
    text = with_game.command(
        "tournament", "hex", *SMALL, "-a", "random,open-spiel:simulations=200", "-n", "4", "--json"
    )
    assert all(sum(agent["faults"].values()) == 0 for agent in json.loads(text)["agents"])


def test_commands_list_judge_record_and_report_it(with_game, tmp_path):
    listed = json.loads(with_game.command("games", "hex", "--json"))["games"][0]
    assert listed["parameters"]["size"]["limits"].startswith("cells a side, 3 to 11")
    assert listed["module"] == "board_envs.env('hex')"
    assert "│ hex " in with_game.command("games")

    found = json.loads(with_game.command("analyse", "hex", *SMALL, "---/---/--- 0", "--json"))
    assert (found["exact"], found["value"], found["unit"]) == (True, 1, "win")
    assert found["moves"]["b2"] == 1
    assert found["moves"]["a1"] == -1
    assert "│ loses │" in with_game.command("analyse", "hex", *SMALL, "1. b2")

    judged = json.loads(with_game.command("evaluate", "hex", "alpha-beta:depth=9", *SMALL, "--games", "2", "--json"))
    assert (judged["total"]["mean_regret"], judged["total"]["share_counted"]) == (0, 1)

    records, database, page = tmp_path / "games.jsonl", tmp_path / "games.db", tmp_path / "report.html"
    result = json.loads(
        with_game.command("tournament", "hex", *SMALL, "-a", CHEAP, "-n", "2", "--records", records, "--json")
    )
    assert len(result["agents"]) == 4
    assert all(sum(agent["faults"].values()) == 0 for agent in result["agents"])
    assert "12 games" in with_game.command("records", "check", records)
    assert "12 games written" in with_game.command("records", "copy", records, database)
    assert "12 games" in with_game.command("report", database, "-o", page)
    assert "hex" in page.read_text(encoding="utf-8")


SUITES = """
from pathlib import Path
from board_agents import make_oracle
from board_agents.arena import tournament
from board_agents.arena.suites.suite_files import build_suite, judge_on_suite, read_suite
from board_envs import make_game

game = make_game("hex", size=3, swap=True)
result = tournament(game, {"a": "random", "b": "greedy"}, games=6, seed=2)
assert len(result.records) == 6
for record in result.records:
    state = game.initial_state()
    for action in record.actions:
        state = game.step(state, action)
    assert int(game.winner(state)) == record.winner
    assert game.format(state) == record.final

# A first stone that wins is taken away by the swap, one that loses is not.
values = make_oracle(game).action_values(game.initial_state())
assert set(values.values()) == {-1.0}
game = make_game("hex", size=3)
suite = build_suite(game, make_oracle(game), seed=1, bins=[(1, 2), (3, 4)], per_cell=3)
suite.save(Path("hex.suite"))
assert read_suite(Path("hex.suite")).positions == suite.positions
# Two ranges of plies, won and lost positions: there are no draws.
assert len(suite.positions) == 12
report = judge_on_suite("alpha-beta:depth=9,compiled=false", suite, name="exact")
assert report.total.mean_regret == 0
print("replayed")
"""


def test_records_replay_and_suites_are_built(with_game):
    assert with_game.call(SUITES) == "replayed\n"


def test_it_is_played_at_the_terminal(with_game):
    moves = "b2\nk9\na1\na3\na2\nc1\nquit\n"
    text = with_game.command("play", "hex", *SMALL, "--opponent", "human", typed=moves)
    assert "its column's letter from a" in text
    assert "'k9' is not on the board; cells are a1 to c3" in text
    # b2, a3, c1 join top and bottom for X.
    assert "player_0 (human) wins" in text


def test_the_commands_of_the_guide_run(with_game):
    guide = (ROOT / "docs" / "adding_a_game.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- my_game -->\n```bash\n(.*?)```", guide, re.DOTALL)
    for line in block.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "board-envs"
        assert with_game.command(*arguments)
