"""What the pages of the games say is what the code does."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import board_envs
from board_agents import make_agent
from board_envs import GAMES, make_game
from board_envs.game import About, Game

ROOT = Path(__file__).parent.parent
SIZES = [
    *((name, {}) for name in GAMES),
    ("reversi", {"size": 4}),
    ("connect-four", {"rows": 4, "columns": 5, "connect": 3}),
    ("awale", {"pits": 4, "seeds": 3, "ruleset": "abapa"}),
    ("nim", {"heaps": (2, 6), "misere": True}),
]


def random_states(game, seed, unfinished_only=False):
    """Yield the states of a game of random moves."""
    agent = make_agent("random", game)
    agent.reset(seed=seed)
    state = game.initial_state()
    while not game.is_terminal(state):
        yield state
        seat = game.current_player(state)
        state = game.step(
            state, agent.act({"observation": game.observe(state, seat), "action_mask": game.legal_mask(state)})
        )
    if not unfinished_only:
        yield state


def test_pages_and_pictures_are_what_the_generator_writes():
    ended = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "docs" / "generate.py", "--check"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_its_page_and_picture(name):
    snake = name.replace("-", "_")
    page = (ROOT / "docs" / "games" / f"{snake}.md").read_text(encoding="utf-8")
    assert f"../pictures/{snake}.svg" in page
    assert (ROOT / "docs" / "pictures" / f"{snake}.svg").exists()
    assert f"({snake}.md)" in (ROOT / "docs" / "games" / "index.md").read_text(encoding="utf-8")
    space = gymnasium.make(f"board_envs/{name.title().replace('-', '')}-v0").observation_space
    assert f"| default | `{space.dtype}` `{space.shape}`, {space.low.min()} to {space.high.max()} |" in page
    for plane, meaning in enumerate(make_game(name).about.planes):
        assert f"| `[..., {plane}]` | {meaning} |" in page


@pytest.mark.parametrize(("name", "parameters"), SIZES)
def test_bounds_layout_rewards_and_longest_game_hold_in_play(name, parameters):
    game = make_game(name, **parameters)
    env = board_envs.raw_env(name, flat=True, **parameters)
    for seed in range(20):
        plies = 0
        for state in random_states(game, seed):
            for seat in (0, 1):
                seen = game.observe(state, seat)
                assert 0 <= seen.min() <= seen.max() <= game.observation_high
            plies += 1
        assert game.max_plies is None or plies - 1 <= game.max_plies
        assert set(game.returns(state)) in ({1, -1}, {0})
        if game.unit == "win":
            assert game.margin(state) == game.returns(state)[0]
    env.reset()
    expected = game.observe(game.initial_state(), 0).reshape(-1).astype(np.float32)
    assert np.array_equal(env.observe("player_0")["observation"], expected)


@pytest.mark.parametrize(("name", "parameters"), [size for size in SIZES if size[0] in ("reversi", "connect-four")])
def test_the_longest_game_of_a_board_that_fills_is_reached_and_planes_are_the_two_sides(name, parameters):
    game = make_game(name, **parameters)
    for seed in range(5):
        for state in random_states(game, seed):
            own, other = game.observe(state, 0), game.observe(state, 1)
            assert np.array_equal(own, other[..., ::-1])
            assert set(np.unique(own.sum(-1))) <= {0, 1}
    # The start's pieces and one more a move: the board is full after the longest game, never sooner.
    cells = int(np.prod(game.observation_shape[:2]))
    assert game.max_plies == cells - int(game.observe(game.initial_state(), 0).sum())


@pytest.mark.parametrize("parameters", [{}, {"pits": 4, "seeds": 3}, {"pits": 3, "seeds": 2, "ruleset": "abapa"}])
def test_awale_planes_are_pits_stores_and_repeating_moves(parameters):
    game = make_game("awale", **parameters)
    repeating = 0
    for seed in range(25):
        past = []
        for state in random_states(game, seed, unfinished_only=True):
            seat = game.current_player(state)
            seen, waiting = game.observe(state, seat), game.observe(state, 1 - seat)
            numbers, stores = game.format(state).split(" ")[0].split(";")
            pits = [int(number) for number in numbers.split(",")]
            assert seen[:, 0].tolist() + seen[:, 1].tolist() == pits
            assert [seen[:, k].tolist() for k in (2, 3)] == [[int(s)] * len(seen) for s in stores.split(",")]
            assert waiting[:, 0].tolist() == seen[:, 1].tolist()
            assert not waiting[:, 4].any()
            past.append((numbers, seat if "ruleset" in parameters else None))
            for action in game.legal_actions(state):
                after = game.step(state, action)
                # What comes again ends the game, with seeds on the board shared out: look at the sowing alone.
                fresh = game.step(game.parse(game.format(state)), action)
                board = (game.format(fresh).split(" ")[0].split(";")[0], 1 - seat if "ruleset" in parameters else None)
                again = board in past and not game.is_terminal(fresh)
                assert seen[action, 4] == again
                if again:
                    assert game.is_terminal(after)
                    repeating += 1
    assert repeating or parameters == {}


def test_nim_entries_are_heaps_and_actions_are_numbered_heap_by_heap():
    game = make_game("nim", heaps=(2, 6))
    for state in random_states(game, 3):
        for seat in (0, 1):
            assert ",".join(map(str, game.observe(state, seat).tolist())) == game.format(state).split(" ")[0]
    start = game.initial_state()
    names = [game.action_to_text(start, action) for action in game.legal_actions(start)]
    assert names == ["1:1", "1:2", "2:1", "2:2", "2:3", "2:4", "2:5", "2:6"]


def test_about_must_name_every_axis_and_plane():
    game = make_game("connect-four")
    fields = {name: getattr(game, name) for name in Game.__dataclass_fields__}
    texts = dict.fromkeys(("title", "summary", "actions", "end", "length"), "x")
    for axes, planes in [(("a",), ("p", "q")), (("a", "b"), ("p",)), (("a", "b"), ())]:
        about = About(**texts, axes=axes, planes=planes)
        with pytest.raises(ValueError, match=r"connect-four: about names . axes and . planes, .* shape \(6, 7, 2\)"):
            Game(**{**fields, "about": about})


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="the overview's solvers need numba")
def test_the_overview_shows_the_values_that_other_means_find():
    picture = (ROOT / "docs" / "pictures" / "overview.svg").read_text(encoding="utf-8")
    assert picture.count('fill="#2e7d4f"/><text') == 5  # best moves: one, two in Reversi, one, one
    # Nim: 3 xor 4 xor 5 is 2, so taking two from the heap of three (3 xor 2 is 1) is the only winning move.
    nim = picture[picture.index(">Nim<") :]
    assert ">1:2</text>" in nim
    assert nim.count(">+1</text>") == 1
    assert nim.count(">-1</text>") == 11
