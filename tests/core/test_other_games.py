"""Games of other packages: found by their metadata, imported when they are used, and then games like ours."""

import copy
import dataclasses
import pickle
import subprocess
import sys
import types
from importlib.metadata import EntryPoint

import gymnasium
import numpy as np
import pettingzoo
import pytest

import board_envs
from board_envs import registry
from board_envs.envs.vector import BoardVectorEnv
from board_envs.pictures.svg import svg
from board_envs.registration import gymnasium_id, pettingzoo_id, register
from board_envs.registry import GROUP, game_drawing, game_module, game_names, game_parameters, make_game
from board_envs.testing import check_env

MODULE = "board_envs_somebody_elses"


def sticks(name="sticks"):
    """Return a module with a game: Nim of one heap under another name, made anew at each call."""
    module = types.ModuleType(MODULE)
    module.make = lambda heap=3: dataclasses.replace(
        make_game("nim", heaps=(heap,)), name=name, parameters={"heap": heap}
    )
    return module


@pytest.fixture
def install(monkeypatch):
    """Return a function that declares a game as an installed package's metadata would, and can forbid its import."""
    declared = []

    def entry_points(group):
        return [point for point in declared if point.group == group]

    def add(name, module, target=MODULE):
        if module is not None:
            monkeypatch.setitem(sys.modules, target, module)
        declared.append(EntryPoint(name, target, GROUP))
        registry._other_games.cache_clear()

    before = dict(gymnasium.registry), dict(getattr(pettingzoo, "aec_registry", {}))
    monkeypatch.setattr(registry, "entry_points", entry_points)
    monkeypatch.setattr(registry, "_MADE", {})
    registry._other_games.cache_clear()
    yield add
    registry._other_games.cache_clear()
    for now, then in zip((gymnasium.registry, getattr(pettingzoo, "aec_registry", {})), before, strict=True):
        for key in set(now) - set(then):
            del now[key]


@pytest.fixture
def game(install):
    install("sticks", sticks())
    register()
    return make_game("sticks", heap=4)


def test_it_is_made_by_name_and_the_same_parameters_give_the_same_object(game):
    assert game_names() == [*board_envs.GAMES, "sticks"]
    assert game_parameters("sticks") == {"heap": 3}
    assert make_game("sticks", heap=4) is game
    assert make_game("sticks") is not game
    with pytest.raises(TypeError, match="'heaps'; it has: heap"):
        make_game("sticks", heaps=4)


def test_it_survives_copies_and_pickles(game):
    assert copy.deepcopy(game) is game
    assert pickle.loads(pickle.dumps(game)) is game
    env = board_envs.raw_env("sticks", heap=4)
    env.reset(seed=1)
    env.step(0)
    again = pickle.loads(pickle.dumps(env))
    assert again.game is game
    assert again.last()[0]["observation"].tolist() == env.last()[0]["observation"].tolist()


def test_it_is_in_both_registries(game):
    env = gymnasium.make(gymnasium_id("sticks"), heap=4)
    assert gymnasium_id("sticks") == "board_envs/Sticks-v0"
    assert env.unwrapped.game is game
    check_env(lambda **kwargs: gymnasium.make(gymnasium_id("sticks"), **kwargs))
    vector = gymnasium.make_vec(gymnasium_id("sticks"), num_envs=3, heap=4)
    assert isinstance(vector.unwrapped, BoardVectorEnv)
    observations, _ = vector.reset(seed=0)
    assert len(observations) == 3
    if hasattr(pettingzoo, "register"):
        made = pettingzoo.make("aec", pettingzoo_id("sticks"), heap=4)
        made.reset()
        assert made.unwrapped.game is game
    wrapped = board_envs.env("sticks", heap=4)
    wrapped.reset()
    assert wrapped.metadata["name"] == "sticks_v0"
    wrapped.step(int(np.flatnonzero(wrapped.last()[0]["action_mask"])[-1]))
    assert wrapped.terminations == {"player_0": True, "player_1": True}


def test_its_drawing_is_a_function_of_its_module(game):
    module = game_module("sticks")
    with pytest.raises(ValueError, match=f"'sticks' has no drawing: {MODULE} has no function picture"):
        svg(game, game.initial_state())
    module.picture = lambda game, state: game_drawing("nim")(make_game("nim", heaps=(4,)), state)
    assert svg(game, game.initial_state()).startswith("<svg")


def test_nothing_is_imported_before_it_is_used_and_a_broken_package_is_named(install):
    install("broken-game", None, "no_such_module_anywhere")
    register()
    assert "board_envs/BrokenGame-v0" in gymnasium.registry
    assert make_game("nim")
    with pytest.raises(ValueError, match=r"game 'broken-game' of .*no_such_module_anywhere.*ModuleNotFoundError"):
        make_game("broken_game")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (types.ModuleType(MODULE), r"has no function make\(\*\*parameters\)"),
        (sticks(name="Sticks"), "must return a Game of this name"),
    ],
)
def test_what_is_no_game_is_refused(install, module, message):
    install("sticks", module)
    with pytest.raises(ValueError, match=message):
        make_game("sticks")


def test_parameters_need_defaults(install):
    module = sticks()
    module.make = lambda heap: None
    install("sticks", module)
    with pytest.raises(ValueError, match="its parameter heap must have a default"):
        make_game("sticks")


def test_parameters_are_hashable(install):
    module = sticks()
    module.make = lambda heap=3: dataclasses.replace(
        make_game("nim", heaps=(heap,)), name="sticks", parameters={"heap": [heap]}
    )
    install("sticks", module)
    with pytest.raises(ValueError, match=r"'sticks': the values of Game.parameters must be hashable.*\[3\]"):
        make_game("sticks")


def test_ours_wins_a_clash_with_a_warning(install):
    install("connect_four", sticks())
    with pytest.warns(UserWarning, match="declares a game 'connect-four'; the one of board_envs is used"):
        assert game_names() == list(board_envs.GAMES)
    assert make_game("connect-four").rules is not None


def test_of_two_packages_one_is_taken_with_a_warning(install):
    install("sticks", sticks())
    install("sticks", sticks(), MODULE + "_b")
    with pytest.warns(UserWarning, match="declares a game 'sticks'; the one of"):
        assert make_game("sticks").name == "sticks"


def test_a_name_that_ids_cannot_hold_is_left_out_with_a_warning(install):
    install("Sticks!", sticks())
    with pytest.warns(UserWarning, match=r"'Sticks!': a name is words of small letters"):
        assert "Sticks!" not in game_names()


TYPED = """\
from board_envs.connect_four_v0 import {name}
import board_envs

{name}_made = {name}(rows=4, columns=5, connect=3)
{name}_made.reset(seed=1)
board_envs.reversi_v0.raw_env().game.initial_state()
"""


def test_type_checkers_find_the_modules_of_games(tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(TYPED.format(name="env") + TYPED.format(name="raw_env"), encoding="utf-8")
    wrong.write_text(TYPED.format(name="evn"), encoding="utf-8")
    options = ["--strict", "--config-file", "", "--cache-dir", str(tmp_path / "cache"), "--follow-untyped-imports"]
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(right), str(wrong)], capture_output=True, text=True, check=False
    )
    (error,) = (line for line in ended.stdout.splitlines() if ": error:" in line)
    assert "wrong.py:1" in error
    assert 'Module "board_envs.connect_four_v0" has no attribute "evn"' in error
